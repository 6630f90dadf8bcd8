import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConchError } from '@conch/protocol'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { configOf, findFixture } from '../contract.suite.ts'
import { openEnv } from './env.ts'
import { readOnnxSignature } from './read-model.ts'
import { planSession } from './session-plan.ts'
import { Session } from './session.ts'

let directory = ''
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'conch-signature-'))
})
afterAll(() => rm(directory, { recursive: true }))

const fixture = (model: string) => join(findFixture(model), '1', 'model.onnx')

async function readBytes(bytes: Uint8Array) {
  const path = join(directory, 'model.onnx')
  await writeFile(path, bytes)
  return readOnnxSignature(path)
}

it('reads what a file says about itself', async () => {
  const { inputs, ...rest } = await readOnnxSignature(fixture('add_sub'))
  expect(rest).toMatchObject({
    irVersion: 8,
    producer: 'conch',
    producerVersion: '1',
    opsets: [{ domain: '', version: 17 }],
    metadata: { made_by: 'make_models.py' },
    graphName: 'add_sub',
    nodes: 2,
    initializers: 0,
    externalFiles: [],
    overridable: [],
  })
  expect(inputs).toEqual(
    ['INPUT0', 'INPUT1'].map((name) => ({
      name,
      kind: 'TENSOR',
      elementType: 1,
      datatype: 'FP32',
      dims: [-1, 16],
      symbols: ['N', ''],
    })),
  )
})

it.each([
  ['shape_scalar', []],
  ['shape_unranked', undefined],
  ['shape_n_unnamed', [-1, -1]],
])('tells the rank of %s: %j', async (model, dims) => {
  expect((await readOnnxSignature(fixture(model))).inputs[0]?.dims).toEqual(dims)
})

it('tells apart what must be sent and what may be', async () => {
  const newer = await readOnnxSignature(fixture('overridable'))
  expect([newer.inputs.map(({ name }) => name), newer.overridable.map(({ name }) => name)]).toEqual([['IN'], ['K']])
  const older = await readOnnxSignature(fixture('old_format'))
  expect([older.inputs.map(({ name }) => name), older.overridable]).toEqual([['IN'], []])
})

it('names files beside the model and values that are no tensors', async () => {
  const external = await readOnnxSignature(join(fixture('external'), 'model.onnx'))
  expect(external.externalFiles).toEqual(['weights.bin'])
  expect((await readOnnxSignature(fixture('sequence_output'))).outputs[0]?.kind).toBe('SEQUENCE')
  expect((await readOnnxSignature(fixture('complex'))).inputs[0]).toMatchObject({
    elementType: 14,
    datatype: undefined,
  })
})

it.each(['add_sub', 'echo_string', 'nonzero', 'overridable', 'old_format', 'shape_mixed', 'slow'])(
  'agrees with the runtime about %s',
  async (model) => {
    const { inputs, outputs, overridable } = await readOnnxSignature(fixture(model))
    const file = { path: fixture(model), shownAs: model }
    const session = await Session.open(
      await openEnv({}),
      file,
      planSession(await configOf(model), { kind: 'KIND_CPU', deviceId: 0 }),
    )
    const { signature } = session
    await session.close()
    expect(inputs).toEqual(signature.inputs)
    expect(overridable).toEqual(signature.overridable)
    expect(outputs.map(({ name, datatype }) => [name, datatype])).toEqual(
      signature.outputs.map(({ name, datatype }) => [name, datatype]),
    )
  },
)

/** What is said of a file, or 'none'; anything but a complaint is thrown on. */
async function findComplaint(bytes: Uint8Array): Promise<string> {
  try {
    await readBytes(bytes)
    return 'none'
  } catch (error) {
    if (error instanceof ConchError) return error.message
    throw error
  }
}

it('refuses broken files with a place, and nothing else happens', async () => {
  const whole = await readFile(fixture('slow'))
  await fc.assert(
    fc.asyncProperty(fc.nat(whole.length - 1), fc.nat(255), async (at, byte) => {
      const bytes = Uint8Array.from(whole)
      bytes[at] = byte
      expect(await findComplaint(bytes)).toMatch(/^(none|not a valid ONNX file: .*(byte|no graph|dimensions).*)$/)
    }),
    { numRuns: 200 },
  )
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 64 }), async (bytes) => {
      expect(await findComplaint(bytes)).toMatch(/^(none|not a valid ONNX file: )/)
    }),
    { numRuns: 200 },
  )
})

it.each([
  ['nothing', [], 'it holds no graph'],
  ['text', [...Buffer.from('this is not a model')], 'wire type'],
  ['a length beyond the end', [0x3a, 0xff, 0xff, 0xff, 0xff, 0x0f], 'reaches beyond its end'],
  ['a negative length', [0x3a, ...new Array<number>(9).fill(0xff), 0x01], 'a length of'],
  ['an endless number', [0x08, ...new Array<number>(12).fill(0xff)], 'more than ten bytes'],
  ['a number that is cut off', [0x08, 0x80], 'is cut off'],
  ['field number 0', [0x00, 0x00], 'field number 0'],
])('says of %s: %s', async (_, bytes, message) => {
  await expect(readBytes(Uint8Array.from(bytes))).rejects.toThrow(message)
})

it('steps over weights without reading them', async () => {
  const small = await readFile(fixture('add_sub'))
  // A sparse file: an unknown field of 3 GB in front of the model.
  const length = 3 * 2 ** 30
  const varint = [0, 7, 14, 21, 28].map((shift, i) => (Math.floor(length / 2 ** shift) & 0x7f) | (i < 4 ? 0x80 : 0))
  const head = Uint8Array.from([(100 << 3) | 2 | 0x80, (100 << 3) >> 7, ...varint])
  const path = join(directory, 'huge.onnx')
  await writeFile(path, head)
  const file = await open(path, 'r+')
  await file.write(small, 0, small.length, head.length + length)
  await file.close()
  const started = performance.now()
  expect((await readOnnxSignature(path)).inputs).toHaveLength(2)
  expect(performance.now() - started).toBeLessThan(2_000)
  await rm(path)
})
