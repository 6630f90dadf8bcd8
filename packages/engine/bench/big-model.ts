import { open } from 'node:fs/promises'

/** Writes an ONNX model that looks up rows in a table of `megabytes`: large on disk, trivial to run. */
export async function writeBigModel(path: string, megabytes: number): Promise<void> {
  const width = 256
  const rows = (megabytes * 2 ** 20) / (4 * width)
  const [FLOAT, INT64] = [1, 7]
  const weights = Buffer.alloc(megabytes * 2 ** 20, 1)
  const table = [...varints(1, [rows, width]), ...varints(2, [FLOAT]), ...bytes(8, Buffer.from('TABLE'))]
  const weightsHead = Buffer.from([...key(9, 2), ...varint(weights.length)])
  const gather = bytes(1, [...text(1, 'TABLE'), ...text(1, 'IN'), ...text(2, 'OUT'), ...text(4, 'Gather')])
  const tail = [...bytes(11, valueInfo('IN', INT64, ['n'])), ...bytes(12, valueInfo('OUT', FLOAT, ['n', width]))]
  const tensorSize = table.length + weightsHead.length + weights.length
  const tensorHead = [...key(5, 2), ...varint(tensorSize)]
  const head = [...gather, ...text(2, 'big'), ...tensorHead, ...table]
  const graphSize = head.length + weightsHead.length + weights.length + tail.length
  const model = [
    ...varints(1, [8]),
    ...bytes(8, [...text(1, ''), ...varints(2, [17])]),
    ...key(7, 2),
    ...varint(graphSize),
  ]
  const file = await open(path, 'w')
  for (const part of [Buffer.from([...model, ...head]), weightsHead, weights, Buffer.from(tail)]) await file.write(part)
  await file.close()
}

function valueInfo(name: string, elementType: number, dims: readonly (number | string)[]): readonly number[] {
  const shape = dims.flatMap((dim) => bytes(1, typeof dim === 'number' ? varints(1, [dim]) : text(2, dim)))
  const tensor = [...varints(1, [elementType]), ...bytes(2, shape)]
  return [...text(1, name), ...bytes(2, bytes(1, tensor))]
}

function varint(value: number): readonly number[] {
  const out: number[] = []
  for (; value >= 128; value = Math.floor(value / 128)) out.push((value % 128) | 128)
  return [...out, value]
}
const key = (field: number, wire: number) => varint(field * 8 + wire)
const varints = (field: number, values: readonly number[]) =>
  values.flatMap((value) => [...key(field, 0), ...varint(value)])
const bytes = (field: number, content: Iterable<number>) => {
  const inner = [...content]
  return [...key(field, 2), ...varint(inner.length), ...inner]
}
const text = (field: number, value: string) => bytes(field, Buffer.from(value))
