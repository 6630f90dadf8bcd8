import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** Writes small ONNX files by hand: the few protobuf messages that the models of the benches need. */
type Part = Uint8Array

function varint(value: number): Part {
  const bytes: number[] = []
  let left = value
  while (left >= 0x80) {
    bytes.push((left % 0x80) | 0x80)
    left = Math.floor(left / 0x80)
  }
  bytes.push(left)
  return Uint8Array.from(bytes)
}
const number = (field: number, value: number): Part => Buffer.concat([varint(field * 8), varint(value)])
const bytes = (field: number, content: Part): Part =>
  Buffer.concat([varint(field * 8 + 2), varint(content.length), content])
const text = (field: number, content: string): Part => bytes(field, Buffer.from(content))
const message = (field: number, ...parts: Part[]): Part => bytes(field, Buffer.concat(parts))

const FLOAT = 1
const INT64 = 7

function value(field: number, name: string, type: { kind: number; dims: readonly (number | string)[] }): Part {
  const dims = type.dims.map((dim) => message(1, typeof dim === 'number' ? number(1, dim) : text(2, dim)))
  return message(field, text(1, name), message(2, message(1, number(1, type.kind), message(2, ...dims))))
}
const node = (op: string, inputs: readonly string[], output: string): Part =>
  message(1, ...inputs.map((name) => text(1, name)), text(2, output), text(4, op))
const weights = (name: string, dims: readonly number[], data: Float32Array): Part =>
  message(
    5,
    ...dims.map((dim) => number(1, dim)),
    number(2, FLOAT),
    text(8, name),
    bytes(9, new Uint8Array(data.buffer)),
  )
const model = (...graph: Part[]): Part =>
  Buffer.concat([number(1, 8), message(8, text(1, ''), number(2, 13)), message(7, text(2, 'g'), ...graph)])

const ROW = { kind: FLOAT, dims: ['N', 16] }
const VECTOR = { kind: FLOAT, dims: ['N'] }

const addSub = () =>
  model(
    node('Add', ['INPUT0', 'INPUT1'], 'OUTPUT0'),
    node('Sub', ['INPUT0', 'INPUT1'], 'OUTPUT1'),
    value(11, 'INPUT0', ROW),
    value(11, 'INPUT1', ROW),
    value(12, 'OUTPUT0', ROW),
    value(12, 'OUTPUT1', ROW),
  )
const identity = () => model(node('Identity', ['IN'], 'OUT'), value(11, 'IN', VECTOR), value(12, 'OUT', VECTOR))
/** 100 MB of weights, next to no work. */
const large = () =>
  model(
    node('Gather', ['W', 'IN'], 'OUT'),
    weights('W', [25_000_000], new Float32Array(25_000_000)),
    value(11, 'IN', { kind: INT64, dims: ['N'] }),
    value(12, 'OUT', VECTOR),
  )
/** Many matrix products one after the other: about half a second on one core. */
const slow = (steps: number) => {
  const size = 1024
  const square = { kind: FLOAT, dims: [size, size] }
  const names = Array.from({ length: steps }, (_, i) => `t${i}`)
  const nodes = names.map((name, i) =>
    node('MatMul', [i === 0 ? 'IN' : (names[i - 1] ?? 'IN'), 'W'], i === steps - 1 ? 'OUT' : name),
  )
  return model(
    ...nodes,
    weights('W', [size, size], new Float32Array(size * size)),
    value(11, 'IN', square),
    value(12, 'OUT', square),
  )
}

/** Complete, so that the first dimension is not taken for a batch. */
function describeVector(backend: string, input: string, output: string): string {
  const tensor = (name: string) => `{ name: "${name}" data_type: TYPE_FP32 dims: [ -1 ] }`
  return `backend: "${backend}"\ninput ${tensor(input)}\noutput ${tensor(output)}\n`
}

const CONFIGS = {
  add_sub: 'backend: "onnxruntime"\nmax_batch_size: 8\n',
  identity: describeVector('onnxruntime', 'IN', 'OUT'),
  identity_backend: describeVector('identity', 'INPUT0', 'OUTPUT0'),
  large: 'backend: "onnxruntime"\n',
  slow: 'backend: "onnxruntime"\n',
}
export type BenchModel = keyof typeof CONFIGS

/** A repository below the temporary folder with these models; `copies` adds `NAME_1` … of the first. */
export function makeRepository(names: readonly BenchModel[], copies = 0): string {
  const root = mkdtempSync(path.join(tmpdir(), 'conch-bench-'))
  const make: Record<BenchModel, () => Part> = {
    add_sub: addSub,
    identity,
    identity_backend: identity,
    large,
    slow: () => slow(12),
  }
  const put = (folder: string, name: BenchModel) => {
    mkdirSync(path.join(root, folder, '1'), { recursive: true })
    writeFileSync(path.join(root, folder, '1', 'model.onnx'), make[name]())
    writeFileSync(path.join(root, folder, 'config.pbtxt'), CONFIGS[name])
  }
  for (const name of names) put(name, name)
  const [first] = names
  for (let i = 1; first !== undefined && i <= copies; i += 1) put(`${first}_${i}`, first)
  return root
}
