import { expect, it } from 'vitest'
import { completeConfig } from './complete.ts'
import { parseConfigJson } from './json-parse.ts'
import { configToJson } from './json-print.ts'
import { parsePbtxt } from './pbtxt/parser.ts'

const CPU = { preferredGroup: { kind: 'KIND_CPU', count: 1 }, gpus: [] } as const
const jsonOf = (text: string, directoryName: string, versionFiles: string[]) =>
  configToJson(completeConfig(parsePbtxt(text).config, { ...CPU, directoryName, versionFiles }))

const SEQUENCE = `backend: "python"
max_batch_size: 4
input { name: "IN" data_type: TYPE_INT32 dims: 1 }
output [ { name: "OUT" data_type: TYPE_INT32 dims: 1 }, { name: "CTRL" data_type: TYPE_INT64 dims: 4 } ]
sequence_batching {
  max_sequence_idle_microseconds: 5000000
  direct { }
  control_input [
    { name: "START" control { kind: CONTROL_SEQUENCE_START int32_false_true: [ 0, 1 ] } },
    { name: "END" control { kind: CONTROL_SEQUENCE_END int32_false_true: [ 0, 1 ] } },
    { name: "READY" control { kind: CONTROL_SEQUENCE_READY int32_false_true: [ 0, 1 ] } },
    { name: "CORRID" control { kind: CONTROL_SEQUENCE_CORRID data_type: TYPE_UINT64 } }
  ]
}
instance_group { kind: KIND_CPU }
`

it('prints a sequence model as the real server did (recorded/http.md, seq_py)', () => {
  expect(jsonOf(SEQUENCE, 'seq_py', ['model.py'])).toBe(
    '{"name":"seq_py","platform":"","backend":"python","runtime":"","version_policy":{"latest":{"num_versions":1}},"max_batch_size":4,"input":[{"name":"IN","data_type":"TYPE_INT32","format":"FORMAT_NONE","dims":[1],"is_shape_tensor":false,"allow_ragged_batch":false,"optional":false,"is_non_linear_format_io":false}],"output":[{"name":"OUT","data_type":"TYPE_INT32","dims":[1],"label_filename":"","is_shape_tensor":false,"is_non_linear_format_io":false},{"name":"CTRL","data_type":"TYPE_INT64","dims":[4],"label_filename":"","is_shape_tensor":false,"is_non_linear_format_io":false}],"batch_input":[],"batch_output":[],"optimization":{"priority":"PRIORITY_DEFAULT","input_pinned_memory":{"enable":true},"output_pinned_memory":{"enable":true},"gather_kernel_buffer_threshold":0,"eager_batching":false},"sequence_batching":{"direct":{"max_queue_delay_microseconds":0,"minimum_slot_utilization":0},"max_sequence_idle_microseconds":5000000,"control_input":[{"name":"START","control":[{"kind":"CONTROL_SEQUENCE_START","int32_false_true":[0,1],"fp32_false_true":[],"bool_false_true":[],"data_type":"TYPE_INVALID"}]},{"name":"END","control":[{"kind":"CONTROL_SEQUENCE_END","int32_false_true":[0,1],"fp32_false_true":[],"bool_false_true":[],"data_type":"TYPE_INVALID"}]},{"name":"READY","control":[{"kind":"CONTROL_SEQUENCE_READY","int32_false_true":[0,1],"fp32_false_true":[],"bool_false_true":[],"data_type":"TYPE_INVALID"}]},{"name":"CORRID","control":[{"kind":"CONTROL_SEQUENCE_CORRID","int32_false_true":[],"fp32_false_true":[],"bool_false_true":[],"data_type":"TYPE_UINT64"}]}],"state":[],"iterative_sequence":false},"instance_group":[{"name":"seq_py_0","kind":"KIND_CPU","count":1,"gpus":[],"secondary_devices":[],"profile":[],"passive":false,"host_policy":""}],"default_model_filename":"model.py","cc_model_filenames":{},"metric_tags":{},"parameters":{},"model_warmup":[]}',
  )
})

it('prints an ensemble as the real server did (recorded/http.md, ens_addsub)', () => {
  const tensor = (name: string) => `{ name: "${name}" data_type: TYPE_FP32 dims: 16 }`
  const text = `platform: "ensemble" max_batch_size: 8 input [ ${tensor('A')} ] output [ ${tensor('S')} ]
ensemble_scheduling { step { model_name: "add_sub" model_version: -1 input_map { key: "IN" value: "A" } output_map { key: "OUT" value: "S" } } }`
  expect(jsonOf(text, 'ens', [])).toBe(
    '{"name":"ens","platform":"ensemble","backend":"","runtime":"","version_policy":{"latest":{"num_versions":1}},"max_batch_size":8,"input":[{"name":"A","data_type":"TYPE_FP32","format":"FORMAT_NONE","dims":[16],"is_shape_tensor":false,"allow_ragged_batch":false,"optional":false,"is_non_linear_format_io":false}],"output":[{"name":"S","data_type":"TYPE_FP32","dims":[16],"label_filename":"","is_shape_tensor":false,"is_non_linear_format_io":false}],"batch_input":[],"batch_output":[],"ensemble_scheduling":{"step":[{"model_name":"add_sub","model_version":-1,"input_map":{"IN":"A"},"output_map":{"OUT":"S"},"model_namespace":""}]},"instance_group":[],"default_model_filename":"","cc_model_filenames":{},"metric_tags":{},"parameters":{},"model_warmup":[],"model_transaction_policy":{"decoupled":false}}',
  )
})

it('keeps 64-bit integers: most as numbers, a few as strings', () => {
  const json = configToJson(
    parsePbtxt(
      `dynamic_batching { max_queue_delay_microseconds: 18446744073709551615 priority_levels: 18446744073709551615
  priority_queue_policy { key: 4294967296 value { default_timeout_microseconds: 18446744073709551615 allow_timeout_override: true max_queue_size: 10 } } }
version_policy { specific { versions: [ 1, 3 ] } }
instance_group { secondary_devices { device_id: 9007199254740993 } }
ensemble_scheduling`.replace('\nensemble_scheduling', ''),
    ).config,
  )
  expect(json).toContain('"max_queue_delay_microseconds":18446744073709551615,')
  expect(json).toContain('"priority_levels":18446744073709551615,')
  expect(json).toContain(
    '"priority_queue_policy":{"4294967296":{"timeout_action":"REJECT","default_timeout_microseconds":18446744073709551615,"allow_timeout_override":true,"max_queue_size":10}}',
  )
  expect(json).toContain('"versions":[1,3]')
  expect(json).toContain('"device_id":"9007199254740993"')
  const states = parsePbtxt(
    'sequence_batching { state { dims: 1 initial_state { dims: 1 zero_data: true name: "i" } } }',
  ).config
  expect(configToJson(states)).toContain(
    '"dims":[1],"initial_state":[{"data_type":"TYPE_INVALID","dims":["1"],"zero_data":true,"name":"i"}]',
  )
})

it.each([
  ['0.3', '0.3'],
  ['0.1', '0.1'],
  ['1e-7', '1e-7'],
  ['16777216', '16777216'],
  ['inf', '"Infinity"'],
  ['-inf', '"-Infinity"'],
  ['nan', '"NaN"'],
])('prints the float %s as %s', (text, json) => {
  const { config } = parsePbtxt(`sequence_batching { direct { minimum_slot_utilization: ${text} } }`)
  expect(configToJson(config)).toContain(`"minimum_slot_utilization":${json}}`)
})

it('prints an enumeration number without a name as a number', () => {
  expect(configToJson(parsePbtxt('instance_group { kind: 99 }').config)).toContain('"kind":99,')
})

it.each([
  ['{}', {}],
  ['{"maxBatchSize": 3}', { max_batch_size: 3 }],
  ['{"max_batch_size": "3"}', { max_batch_size: 3 }],
  ['{"max_batch_size": 3.0, "input": [{"dims": ["4", 1e2]}]}', { max_batch_size: 3, input: [{ dims: [4, 100] }] }],
  [
    '{"input": [{"data_type": 11}, {"data_type": "TYPE_INT8"}]}',
    { input: [{ data_type: 'TYPE_FP32' }, { data_type: 'TYPE_INT8' }] },
  ],
  ['{"parameters":{"K":{"string_value":"v"}}}', { parameters: { K: { string_value: 'v' } } }],
  ['{"parameters":{"key":{"string_value":"v"}}}', { parameters: { key: { string_value: 'v' } } }],
  ['{"metric_tags":{"key":"a","value":"b"}}', { metric_tags: { key: 'a', value: 'b' } }],
  [
    '{"name": null, "dynamic_batching": {"max_queue_delay_microseconds": 18446744073709551615}}',
    { name: '', dynamic_batching: { max_queue_delay_microseconds: 2n ** 64n - 1n } },
  ],
  ['{"dynamicBatching": {"preferredBatchSize": [1]}}', { dynamic_batching: { preferred_batch_size: [1] } }],
  [
    '{"sequence_batching": {"direct": {"minimum_slot_utilization": "NaN"}}}',
    { sequence_batching: { direct: { minimum_slot_utilization: NaN } } },
  ],
  ['{"name": "\\u00fc\\n"}', { name: 'ü\n' }],
])('reads %s', (text, expected) => {
  const { config, problems } = parseConfigJson(text)
  expect(problems).toEqual([])
  expect(config).toMatchObject(expected)
})

it.each([
  ['{"foo": 1}', 'foo: Cannot find field.', ''],
  ['{"max_batchsize": 1}', 'max_batchsize: Cannot find field.', 'did you mean max_batch_size?'],
  ['{"input": [{"dim": [1]}]}', 'input[0].dim: Cannot find field.', 'did you mean dims?'],
  [
    '{"parameters":{"key":"E","value":{"string_value":"e.tgz"}}}',
    'parameters: invalid JSON',
    '{"E": {"string_value": "…"}}',
  ],
  ['{"max_batch_size": 2147483648}', 'max_batch_size: Integer out of range (2147483648).', ''],
  ['{"max_batch_size": 1.5}', 'max_batch_size: Expected an integer.', ''],
  ['{"max_batch_size": true}', 'max_batch_size: Expected an integer.', ''],
  ['{"name": 5}', 'name: Expected a string.', ''],
  ['{"input": {}}', 'input: Expected an array.', ''],
  ['{"input": [{"data_type": "FP32"}]}', 'input[0].data_type: Invalid enum value: FP32.', 'did you mean TYPE_FP32?'],
  [
    '{"dynamic_batching": {}, "sequence_batching": {}}',
    "sequence_batching: oneof field 'scheduling_choice' is already set.",
    '',
  ],
  ['{"name": "a", "name": "b"}', 'name: Field is given twice.', ''],
  ['notjson', 'Unexpected token.\nnotjson\n^', ''],
  ['{nope', 'Expected a name in double quotes.\n{nope\n ^', ''],
  ['{"name": "a"} x', 'Unexpected token.', ''],
  ['[]', ': Expected an object.', ''],
  ['', 'Unexpected token.', ''],
  ['{"name": "a', 'Expected a closing quote.', ''],
  ['[['.repeat(1000), 'Message too deep.', ''],
])('refuses %s', (text, original, hint) => {
  const [problem] = parseConfigJson(text).problems
  expect(problem?.original).toContain(original)
  expect(problem?.message).toContain(hint)
})

it('reports all problems of a JSON text', () => {
  const { problems } = parseConfigJson('{"foo": 1, "max_batch_size": "x",\n "input": [{"dims": [1, "y"]}]}')
  expect(problems.map((problem) => [problem.line, problem.path])).toEqual([
    [1, 'foo'],
    [1, 'max_batch_size'],
    [2, 'input[0].dims[1]'],
  ])
})
