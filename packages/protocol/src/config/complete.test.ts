import { expect, it } from 'vitest'
import type { ModelFacts } from './complete.ts'
import { completeConfig } from './complete.ts'
import { parsePbtxt } from './pbtxt/parser.ts'

const complete = (text: string, facts: Partial<ModelFacts> = {}) =>
  completeConfig(parsePbtxt(text).config, {
    directoryName: 'm',
    versionFiles: [],
    preferredGroup: { kind: 'KIND_CPU', count: 1 },
    gpus: [],
    ...facts,
  })

it.each([
  ['', ['model.onnx'], ['onnxruntime', 'onnxruntime_onnx', 'model.onnx']],
  ['', ['model.py'], ['python', '', 'model.py']],
  ['', ['model.plan'], ['tensorrt', 'tensorrt_plan', 'model.plan']],
  ['', ['model.xml', 'model.bin'], ['openvino', '', 'model.xml']],
  ['', ['model.pt'], ['pytorch', 'pytorch_libtorch', 'model.pt']],
  ['', ['model.pt2'], ['pytorch', 'torch_aoti', 'model.pt2']],
  ['', ['model.savedmodel'], ['tensorflow', 'tensorflow_savedmodel', 'model.savedmodel']],
  ['', ['model.graphdef'], ['tensorflow', 'tensorflow_graphdef', 'model.graphdef']],
  ['', ['readme.txt'], ['', '', '']],
  ['backend: "onnxruntime"', [], ['onnxruntime', 'onnxruntime_onnx', 'model.onnx']],
  ['platform: "onnxruntime_onnx"', [], ['onnxruntime', 'onnxruntime_onnx', 'model.onnx']],
  ['backend: "identity"', ['model.onnx'], ['identity', '', '']],
  [
    'backend: "onnxruntime" default_model_filename: "other.onnx"',
    [],
    ['onnxruntime', 'onnxruntime_onnx', 'other.onnx'],
  ],
  ['default_model_filename: "model.py"', ['model.onnx'], ['python', '', 'model.py']],
  ['platform: "nope_x"', ['model.onnx'], ['', 'nope_x', '']],
  ['platform: "ensemble"', ['model.onnx'], ['', 'ensemble', '']],
  ['name: "x.identity"', [], ['identity', '', 'model.identity']],
])('fills in backend, platform and file of %j with %j', (text, versionFiles, expected) => {
  const { backend, platform, default_model_filename: file } = complete(text, { versionFiles })
  expect([backend, platform, file]).toEqual(expected)
})

it('fills in what depends on nothing else', () => {
  const config = complete('backend: "identity" max_batch_size: 8 dynamic_batching { }')
  expect(config.name).toBe('m')
  expect(config.version_policy).toEqual({ latest: { num_versions: 1 } })
  expect(config.dynamic_batching?.preferred_batch_size).toEqual([8])
  expect(config.optimization?.input_pinned_memory).toEqual({ enable: true })
  expect(complete('dynamic_batching { }').dynamic_batching?.preferred_batch_size).toEqual([])
  expect(complete('version_policy { latest { num_versions: 0 } }').version_policy).toEqual({
    latest: { num_versions: 0 },
  })
  expect(complete('version_policy { }').version_policy).toEqual({ latest: { num_versions: 1 } })
  const oldest = complete('max_batch_size: 4 sequence_batching { oldest { } }').sequence_batching
  expect(oldest).toMatchObject({ max_sequence_idle_microseconds: 1_000_000n, oldest: { preferred_batch_size: [4] } })
  expect(complete('optimization { output_pinned_memory { } }').optimization?.output_pinned_memory).toEqual({
    enable: false,
  })
})

it('gives an ensemble a transaction policy, no instances and no optimization', () => {
  const config = complete('platform: "ensemble" ensemble_scheduling { }')
  expect(config.model_transaction_policy).toEqual({ decoupled: false })
  expect(config.instance_group).toEqual([])
  expect(config.optimization).toBeUndefined()
})

it.each([
  ['', {}, [['m', 'KIND_CPU', 1, []]]],
  ['', { preferredGroup: { kind: 'KIND_CPU', count: 2 } }, [['m', 'KIND_CPU', 2, []]]],
  ['', { preferredGroup: { kind: 'KIND_GPU', count: 1 } }, [['m', 'KIND_CPU', 1, []]]],
  ['', { preferredGroup: { kind: 'KIND_GPU', count: 1 }, gpus: [0, 1] }, [['m', 'KIND_GPU', 1, [0, 1]]]],
  [
    'instance_group [ { count: 3 }, { name: "b" kind: KIND_CPU count: -1 } ]',
    {},
    [
      ['m_0', 'KIND_CPU', 3, []],
      ['b', 'KIND_CPU', 1, []],
    ],
  ],
  [
    'instance_group { kind: KIND_CPU }',
    { preferredGroup: { kind: 'KIND_CPU', count: 2 } },
    [['m_0', 'KIND_CPU', 2, []]],
  ],
  [
    'instance_group { kind: KIND_GPU }',
    { preferredGroup: { kind: 'KIND_CPU', count: 2 }, gpus: [1] },
    [['m_0', 'KIND_GPU', 1, [1]]],
  ],
  ['instance_group { gpus: 0 }', {}, [['m_0', 'KIND_CPU', 1, [0]]]],
  ['instance_group { gpus: 1 }', { gpus: [0, 1] }, [['m_0', 'KIND_GPU', 1, [1]]]],
  ['instance_group { kind: KIND_MODEL }', { gpus: [0] }, [['m_0', 'KIND_MODEL', 1, []]]],
] satisfies [string, Partial<ModelFacts>, unknown][])('instance groups of %j with %j', (text, facts, expected) => {
  const groups = complete(text, facts).instance_group
  expect(groups.map((group) => [group.name, group.kind, group.count, group.gpus])).toEqual(expected)
})

it('does not change the config it is given', () => {
  const { config } = parsePbtxt('dynamic_batching { } max_batch_size: 2')
  const before = structuredClone(config)
  completeConfig(config, {
    directoryName: 'm',
    versionFiles: ['model.onnx'],
    preferredGroup: { kind: 'KIND_CPU', count: 1 },
    gpus: [],
  })
  expect(config).toEqual(before)
})
