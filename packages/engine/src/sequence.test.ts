import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { createOnnxBackend } from './backend/onnx/backend.ts'
import { createEngine } from './engine.ts'
import { FIXTURE_MODELS, floats, makeDirectory, onlyBackends, testOptions, testRequest } from './testing.ts'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

async function start(files: Record<string, string | Uint8Array>) {
  const repository = await makeDirectory(files)
  cleanups.push(repository.remove)
  const engine = createEngine(testOptions([repository.directory]), { findBackend: onlyBackends(createOnnxBackend()) })
  cleanups.push(() => engine.stop(1))
  await engine.start()
  return { engine, put: repository.put }
}

const STATE = 'state { input_name: "STATE_IN" output_name: "STATE_OUT" data_type: TYPE_INT32 dims: [ 1 ] }'

/** OUT = IN + state; the state is OUT. BEGAN is the START control. */
async function startSums(
  change: (config: string) => string = (config) => config,
  files: Record<string, string | Uint8Array> = {},
) {
  const folder = join(FIXTURE_MODELS, 'stateful')
  const { engine, put } = await start({
    'stateful/config.pbtxt': change(await readFile(join(folder, 'config.pbtxt'), 'utf8')),
    'stateful/1/model.onnx': await readFile(join(folder, '1', 'model.onnx')),
    ...files,
  })
  const ask = async (sequenceId: bigint | string, value: number, flags: '' | 'S' | 'E' | 'SE' = '') => {
    const data = new Uint8Array(Int32Array.of(value).buffer)
    const request = testRequest('stateful', [{ name: 'IN', datatype: 'INT32', shape: [1, 1], data }], {
      sequenceId,
      sequenceStart: flags.includes('S'),
      sequenceEnd: flags.includes('E'),
    })
    const { outputs } = await engine.infer(request)
    return outputs.map((output) => new DataView(output.data.buffer, output.data.byteOffset).getInt32(0, true))
  }
  return { engine, ask, put }
}

it.each(['direct { }', 'oldest { max_candidate_sequences: 3 }'])(
  'keeps the state of sequences apart: %s',
  async (strategy) => {
    const { engine, ask } = await startSums((config) =>
      config.replace('sequence_batching {', `sequence_batching { ${strategy}`),
    )
    await engine.load('stateful')
    expect(await ask(1n, 1, 'S')).toEqual([1, 1])
    expect(await Promise.all([ask(2n, 100, 'S'), ask(1n, 2), ask('1', 7, 'S')])).toEqual([
      [100, 1],
      [3, 0],
      [7, 1],
    ])
    expect(await Promise.all([ask(2n, 200), ask(1n, 3, 'E'), ask('1', 1)])).toEqual([
      [300, 0],
      [6, 0],
      [8, 0],
    ])
    expect(await ask(1n, 5, 'SE')).toEqual([5, 1])
    expect(engine.metadata('stateful', '').outputs.map(({ name }) => name)).toEqual(['OUT', 'BEGAN'])
    const taken = engine
      .slots('stateful', '')
      ?.instances.flatMap(({ slots }) => slots.flatMap(({ sequence }) => sequence ?? []))
    expect(taken?.toSorted()).toEqual(['1', '2'])
  },
)

it('begins with the bytes of a file', async () => {
  const initial = 'initial_state { name: "i" data_type: TYPE_INT32 dims: [ 1 ] data_file: "start" }'
  const { engine, ask } = await startSums((config) => config.replace(STATE, STATE.replace(' }', ` ${initial} }`)), {
    'stateful/initial_state/start': new Uint8Array(Int32Array.of(100).buffer),
  })
  await engine.load('stateful')
  expect([await ask(1n, 1, 'S'), await ask(1n, 2, 'E')]).toEqual([
    [101, 1],
    [103, 0],
  ])
})

it.each<[string, (config: string) => string, string]>([
  [
    'a file that is not there',
    (config) =>
      config.replace(
        STATE,
        STATE.replace(' }', ' initial_state { name: "i" data_type: TYPE_INT32 dims: [ 1 ] data_file: "none" } }'),
      ),
    'failed to open text file for read stateful/initial_state/none: No such file or directory',
  ],
  [
    'a file outside the model',
    (config) =>
      config.replace(
        STATE,
        STATE.replace(' }', ' initial_state { name: "i" data_type: TYPE_INT32 dims: [ 1 ] data_file: "../../x" } }'),
      ),
    "path '../../x' must be relative and stay within its directory",
  ],
  [
    'a state that the model does not make',
    (config) => config.replace('"STATE_OUT"', '"NOPE"'),
    "unexpected inference output 'NOPE', allowed outputs are: BEGAN, OUT, STATE_OUT",
  ],
])('refuses %s', async (_, change, message) => {
  const { engine } = await startSums(change)
  await expect(engine.load('stateful')).rejects.toThrow(message)
})

it('keeps the memory of a voice detector as its clients would', async () => {
  const folder = new URL('../../../examples/models/silero_vad/', import.meta.url)
  const config = await readFile(new URL('config.pbtxt', folder), 'utf8')
  const file = await readFile(new URL('1/model.onnx', folder))
  const inputs = (names: string) =>
    `input [ { name: "input" data_type: TYPE_FP32 dims: [ -1, 576 ] }, ${names} { name: "sr" data_type: TYPE_INT64 dims: [ 1 ] } ]`
  const output = 'output [ { name: "output" data_type: TYPE_FP32 dims: [ -1, 1 ] } ]'
  const state = 'state { input_name: "state" output_name: "stateN" data_type: TYPE_FP32 dims: [ 2, 1, 128 ] }'
  const { engine } = await start({
    'vad/config.pbtxt': config,
    'vad/1/model.onnx': file,
    'kept/config.pbtxt': `backend: "onnxruntime" max_batch_size: 0 ${inputs('')} ${output} sequence_batching { oldest { } ${state} }`,
    'kept/1/model.onnx': file,
  })
  await Promise.all([engine.load('vad'), engine.load('kept')])
  const rate = {
    name: 'sr',
    datatype: 'INT64',
    shape: [1],
    data: new Uint8Array(BigInt64Array.of(16_000n).buffer),
  } as const
  const pieces = [0.1, -0.4, 0.7].map((value, at) => {
    const sound = Float32Array.from({ length: 576 }, (_, i) => value * Math.sin(i * (at + 1) * 0.1))
    return { name: 'input', datatype: 'FP32', shape: [1, 576], data: new Uint8Array(sound.buffer) } as const
  })
  let memory = floats('state', [2, 1, 128])
  for (const [index, piece] of pieces.entries()) {
    const own = await engine.infer(testRequest('vad', [piece, memory, rate]))
    const kept = await engine.infer(
      testRequest('kept', [piece, rate], { sequenceId: 'call-7', sequenceStart: index === 0 }),
    )
    const { data = new Uint8Array() } = own.outputs.find(({ name }) => name === 'stateN') ?? {}
    memory = { ...memory, data: data.slice() }
    expect(kept.outputs.map(({ name }) => name)).toEqual(['output'])
    expect(kept.outputs[0]?.data).toEqual(own.outputs.find(({ name }) => name === 'output')?.data)
  }
})

it('lets sequences end where they began when their model is reloaded', async () => {
  const { engine, ask, put } = await startSums()
  await engine.load('stateful')
  expect(await ask(1n, 1, 'S')).toEqual([1, 1])
  expect(await ask(2n, 10, 'S')).toEqual([10, 1])
  for (const round of [1, 2]) {
    await put('stateful/1/notes.txt', `round ${round}`)
    await engine.load('stateful')
    expect(await ask(1n, round)).toEqual([round === 1 ? 2 : 4, 0])
    expect(await ask(BigInt(round + 10), 5, 'S')).toEqual([5, 1])
  }
  expect(await ask(2n, 1, 'E')).toEqual([11, 0])
  expect(await ask(1n, 1, 'E')).toEqual([5, 0])
  // Its id means nothing any more, neither there nor here.
  await expect(ask(1n, 1)).rejects.toThrow('must specify the START flag on the first request of the sequence')
  expect(await ask(11n, 1, 'E')).toEqual([6, 0])
  expect(await ask(12n, 1)).toEqual([6, 0])
  // An id that begins anew is the new one's.
  await put('stateful/1/notes.txt', 'round three')
  await engine.load('stateful')
  expect(await ask(12n, 100, 'S')).toEqual([100, 1])
  expect(await ask(12n, 1)).toEqual([101, 0])
})

it('ends sequences with their model, and those of selves that are too many', async () => {
  const { engine, ask, put } = await startSums((config) =>
    config.replace('sequence_batching {', 'sequence_batching { max_sequence_idle_microseconds: 600000000'),
  )
  await engine.load('stateful')
  for (let id = 1n; id <= 7n; id++) {
    await ask(id, 1, 'S')
    await put('stateful/1/notes.txt', `before ${id}`)
    await engine.load('stateful')
  }
  await expect(ask(3n, 1)).rejects.toThrow('must specify the START flag')
  expect(await ask(4n, 1)).toEqual([2, 0])
  await engine.unload('stateful', false)
  await expect(ask(7n, 1)).rejects.toThrow('has no available versions')
  await engine.load('stateful')
  await expect(ask(7n, 1)).rejects.toThrow('must specify the START flag')
})

it('lets the sequences of an ensemble end where its step began them', async () => {
  const config = `platform: "ensemble" max_batch_size: 4
    input { name: "IN" data_type: TYPE_INT32 dims: [ 1 ] } output { name: "OUT" data_type: TYPE_INT32 dims: [ 1 ] }
    ensemble_scheduling { step { model_name: "stateful" model_version: -1
      input_map { key: "IN" value: "IN" } output_map { key: "OUT" value: "OUT" } } }`
  const { engine, put } = await startSums((text) => text, { 'sums/config.pbtxt': config, 'sums/1/': '' })
  await engine.load('sums')
  const ask = async (value: number, flags: { sequenceStart?: boolean; sequenceEnd?: boolean } = {}) => {
    const data = new Uint8Array(Int32Array.of(value).buffer)
    const input = { name: 'IN', datatype: 'INT32', shape: [1, 1], data } as const
    const { outputs } = await engine.infer(testRequest('sums', [input], { sequenceId: 5n, ...flags }))
    return outputs.map((output) => new DataView(output.data.buffer, output.data.byteOffset).getInt32(0, true))
  }
  expect(await ask(1, { sequenceStart: true })).toEqual([1])
  await put('stateful/1/notes.txt', 'another self')
  await engine.load('stateful')
  expect(await ask(2)).toEqual([3])
  expect(await ask(3, { sequenceEnd: true })).toEqual([6])
})
