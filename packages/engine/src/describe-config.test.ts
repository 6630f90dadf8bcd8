import { completeConfig, parsePbtxt } from '@conch/protocol'
import { expect, it } from 'vitest'
import { describeConfig } from './describe-config.ts'

const FACTS = {
  directoryName: 'm',
  versionFiles: [],
  preferredGroup: { kind: 'KIND_CPU', count: 2 },
  gpus: [],
} as const

it('tells what was written, what is a default and what a backend found', () => {
  const { config: written, tree } = parsePbtxt(`backend: "fake"
    input { name: "IN" data_type: TYPE_FP32 dims: [ 4, 5 ] }
    parameters { key: "a.b" value { string_value: "x" } }
    dynamic_batching { max_queue_delay_microseconds: 18446744073709551615 }`)
  const polled = completeConfig(written, FACTS)
  const config = structuredClone(polled)
  config.max_batch_size = 4
  config.output.push({
    name: 'OUT',
    data_type: 'TYPE_FP32',
    dims: [4],
    label_filename: '',
    is_shape_tensor: false,
    is_non_linear_format_io: false,
  })
  const source = { config: written, tree, path: 'm/config.pbtxt', origin: 'file' } as const
  const described = new Map(
    describeConfig({ config, plan: { config: polled, written: source } }).map(({ path, value, origin }) => [
      path,
      [value, origin],
    ]),
  )
  expect(Object.fromEntries(described)).toMatchObject({
    name: ['m', 'default'],
    backend: ['fake', 'file'],
    max_batch_size: [4, 'auto-complete'],
    'input[0].name': ['IN', 'file'],
    'input[0].dims': [[4, 5], 'file'],
    'input[0].optional': [false, 'default'],
    'output[0].name': ['OUT', 'auto-complete'],
    'parameters["a.b"].string_value': ['x', 'file'],
    'dynamic_batching.max_queue_delay_microseconds': ['18446744073709551615', 'file'],
    'dynamic_batching.preserve_ordering': [false, 'default'],
    'instance_group[0].count': [2, 'default'],
  })
})
