import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { message } from '../../../test/admin/onnx-file.ts'
import { findOnnx, readSignature } from './read-signature.ts'

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
const read = async (bytes: Buffer, others: readonly string[] = []) => {
  await writeFile(join(folder, '1/model.onnx'), bytes)
  return readSignature(folder, ['1/model.onnx', ...others])
}
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'conch-onnx-'))
  await mkdir(join(folder, '1'))
})
afterAll(() => rm(folder, { recursive: true }))

it('reads what the file declares, without its weights', async () => {
  const { signature, warnings } = await read(MODEL)
  expect(warnings).toEqual([])
  expect(signature).toEqual({
    inputs: [
      { name: 'x', datatype: 'FP32', shape: [-1, 64], dims: ['batch', '64'] },
      { name: 'text', datatype: 'BYTES', shape: [-1, -1], dims: ['?', '?'] },
      { name: '7', datatype: 'BF16', shape: [-1], dims: ['7'] },
    ],
    outputs: [
      { name: 'scores', datatype: 'FP16', shape: [-1, 10], dims: ['batch', '10'] },
      { name: 'label', datatype: 'INT64', shape: [], dims: [] },
      { name: 'map', datatype: 'MAP', shape: [], dims: ['any shape'] },
    ],
    opsets: [
      { domain: '', version: 17 },
      { domain: 'ai.onnx.ml', version: 3 },
    ],
    producer: 'pytorch 2.5',
    irVersion: 8,
    size: MODEL.byteLength,
    parameters: null,
  })
})

it('says of every file that is none why, and never more than that', async () => {
  for (const bytes of [Buffer.alloc(0), Buffer.from('hello, I am a text'), MODEL.subarray(0, MODEL.byteLength - 40)]) {
    const { signature, warnings } = await read(bytes)
    expect([signature, warnings]).toEqual([null, [expect.stringMatching(/^1\/model\.onnx: .+/)]])
    expect(warnings[0]).not.toContain(folder)
  }
})

it('misses weights that are kept in a file of their own', async () => {
  const outside = message([8, 'W'], [13, message([1, 'location'], [2, 'weights.bin'])])
  const model = message([7, message([5, outside], [11, value('x', 1n, ['n'])])])
  expect((await read(model)).warnings).toEqual([
    "1/model.onnx keeps weights in 'weights.bin', which is not in the upload; add that file beside it",
  ])
  expect((await read(model, ['1/weights.bin'])).warnings).toEqual([])
})

it('finds the newest version, and model.onnx in it', () => {
  expect(findOnnx(['1/model.onnx', '10/a.onnx', '10/model.onnx', '9/z.onnx'])).toBe('10/model.onnx')
  expect(findOnnx(['model.onnx', '1/sub/model.onnx', 'config.pbtxt'])).toBeUndefined()
})
