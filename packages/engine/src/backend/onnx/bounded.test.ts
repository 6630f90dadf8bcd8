import { join } from 'node:path'
import { parsePbtxt } from '@conch/protocol'
import { expect, it, onTestFinished } from 'vitest'
import { makeDirectory } from '../../testing.ts'
import { isBounded } from './bounded.ts'

const field = (number: number, content: Uint8Array | string): Buffer => {
  const bytes = Buffer.from(content)
  return Buffer.concat([Buffer.from([number * 8 + 2, bytes.length]), bytes])
}
const node = (operator: string, ...attributes: Buffer[]): Buffer =>
  field(1, Buffer.concat([field(2, 'Y'), field(4, operator), ...attributes.map((one) => field(5, one))]))
const graph = (...nodes: Buffer[]): Buffer => Buffer.concat([...nodes, field(2, 'g')])
const model = (...nodes: Buffer[]): Buffer => Buffer.concat([Buffer.from([8, 8]), field(7, graph(...nodes))])

async function judge(file: Uint8Array, config = ''): Promise<boolean> {
  const { directory, remove } = await makeDirectory({ 'model.onnx': file })
  onTestFinished(remove)
  return isBounded(parsePbtxt(config).config, { path: join(directory, 'model.onnx'), shownAs: 'model.onnx' })
}

it.each(['Add', 'MatMul', 'Conv', 'LSTM', 'Gather', 'Softmax', 'If', 'NonZero'])(
  '%s costs what its inputs say',
  async (name) => {
    expect(await judge(model(node(name), node('Relu')))).toBe(true)
  },
)

// Each makes as much as a number it is given says, be its inputs ever so small.
const UNBOUNDED = `AffineGrid CenterCropPad Col2Im ConstantOfShape CropAndResize Expand ImageDecoder MaxUnpool OneHot
  Pad Range Resize Tile Upsample BlackmanWindow HammingWindow HannWindow MelWeightMatrix DFT STFT Loop
  Scan SequenceMap BeamSearch GreedySearch Sampling WhisperBeamSearch`

it.each(UNBOUNDED.split(/\s+/))('%s may cost anything', async (name) => {
  expect(await judge(model(node('Relu'), node(name)))).toBe(false)
})

it('looks into the branches of a condition', async () => {
  const branch = (inner: string) => Buffer.concat([field(1, 'then_branch'), field(6, graph(node(inner)))])
  expect(await judge(model(node('If', branch('Add'))))).toBe(true)
  expect(await judge(model(node('If', branch('Range'))))).toBe(false)
})

it('trusts neither operators of other libraries nor what it cannot read', async () => {
  expect(await judge(model(node('Add')), 'model_operations { op_library_filename: "ops.so" }')).toBe(false)
  expect(await judge(Buffer.from('no model'))).toBe(false)
})
