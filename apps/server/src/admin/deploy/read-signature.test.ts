import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConchError } from '@conch/protocol'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { findOnnx, readOnnx, readSignature } from './read-signature.ts'

/** Protobuf by hand: the field's number, then a number, a text or an inner message. */
type Part = readonly [field: number, value: bigint | string | Buffer]
function varint(value: bigint): Buffer {
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, value)
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128)
  return Buffer.from([...bytes, Number(rest)])
}
function message(...parts: readonly Part[]): Buffer {
  return Buffer.concat(
    parts.flatMap(([field, value]) => {
      if (typeof value === 'bigint') return [varint(BigInt(field << 3)), varint(value)]
      const bytes = Buffer.from(value)
      return [varint(BigInt((field << 3) | 2)), varint(BigInt(bytes.byteLength)), bytes]
    }),
  )
}
const dim = (size: bigint | string) => [1, typeof size === 'bigint' ? message([1, size]) : message([2, size])] as const
const value = (name: string, type: bigint, dims: readonly (bigint | string)[]) =>
  message([1, name], [2, message([1, message([1, type], [2, message(...dims.map(dim))])])])
const weights = (name: string, dims: readonly bigint[], bytes: number) =>
  message(...dims.map((size) => [1, size] as const), [2, 1n], [8, name], [9, Buffer.alloc(bytes)])
const MODEL = message(
  [1, 8n],
  [2, 'pytorch'],
  [3, '2.5'],
  [8, message([1, ''], [2, 17n])],
  [8, message([1, 'ai.onnx.ml'], [2, 3n])],
  [
    7,
    message(
      [1, message([4, 'Gemm'])],
      [5, weights('W', [64n, 10n], 200_000)],
      [5, weights('B', [10n], 40)],
      [11, value('x', 1n, ['batch', 64n])],
      [11, value('W', 1n, [64n, 10n])],
      [11, value('text', 8n, [-1n, ''])],
      [11, value('7', 16n, ['7'])],
      [12, value('scores', 10n, ['batch', 10n])],
      [12, value('label', 7n, [])],
      [12, message([1, 'map'], [2, message([5, message([1, 7n])])])],
    ),
  ],
)

let folder: string
const put = async (bytes: Buffer) => {
  const path = join(folder, 'model.onnx')
  await writeFile(path, bytes)
  return path
}
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'conch-onnx-'))
})
afterAll(() => rm(folder, { recursive: true }))

it('reads what the file declares, without its weights', async () => {
  expect(await readOnnx(await put(MODEL))).toEqual({
    inputs: [
      { name: 'x', datatype: 'FP32', shape: [-1, 64], dims: ['batch', '64'] },
      { name: 'text', datatype: 'BYTES', shape: [-1, -1], dims: ['?', '?'] },
      { name: '7', datatype: 'BF16', shape: [-1], dims: ["'7'"] },
    ],
    outputs: [
      { name: 'scores', datatype: 'FP16', shape: [-1, 10], dims: ['batch', '10'] },
      { name: 'label', datatype: 'INT64', shape: [], dims: [] },
      { name: 'map', datatype: '', shape: [], dims: [] },
    ],
    opsets: [
      { domain: '', version: 17 },
      { domain: 'ai.onnx.ml', version: 3 },
    ],
    producer: 'pytorch 2.5',
    irVersion: 8,
    size: MODEL.byteLength,
    parameters: 650,
  })
})

it('says of every file that is none why, and never more than that', async () => {
  for (const [bytes, why] of [
    [Buffer.alloc(0), 'it holds no graph'],
    [Buffer.from('hello, I am a text and no model'), 'the model'],
    [MODEL.subarray(0, MODEL.byteLength - 40), 'its parts do not fit'],
    [message([1, 8n]), 'it holds no graph'],
  ] as const) {
    const { signature, warning } = await readSignature(await put(bytes), '1/model.onnx')
    expect(signature).toBeNull()
    expect(warning).toMatch(/^1\/model\.onnx: /)
    expect(warning).toContain(why)
    expect(warning).not.toContain(folder)
  }
})

it('survives any damage', async () => {
  const small = message([7, message([11, value('x', 1n, ['n', 4n])], [5, weights('W', [2n], 8)])])
  await fc.assert(
    fc.asyncProperty(fc.nat(small.byteLength - 1), fc.nat(255), fc.nat(small.byteLength), async (at, byte, length) => {
      const bytes = Buffer.from(small)
      bytes[at] = byte
      const failure = await readOnnx(await put(bytes.subarray(0, length))).then(
        () => undefined,
        (error: unknown) => error,
      )
      expect(failure === undefined || failure instanceof ConchError).toBe(true)
    }),
    { numRuns: 200 },
  )
})

it('finds the newest version, and model.onnx in it', () => {
  expect(findOnnx(['1/model.onnx', '10/a.onnx', '10/model.onnx', '9/z.onnx'])).toBe('10/model.onnx')
  expect(findOnnx(['model.onnx', '1/sub/model.onnx', 'config.pbtxt'])).toBeUndefined()
})
