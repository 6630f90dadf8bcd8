import { expect, it } from 'vitest'
import { checkConfig } from './check.ts'
import { completeConfig, normaliseConfig } from './complete.ts'
import type { CheckOptions } from './complaints.ts'
import { parsePbtxt } from './pbtxt/parser.ts'
import { applyEdits } from './problem.ts'

const FACTS = {
  directoryName: 'M',
  versionFiles: [],
  preferredGroup: { kind: 'KIND_CPU', count: 1 },
  gpus: [],
} as const
const IO = 'input { name: "I" data_type: TYPE_FP32 dims: 16 } output { name: "O" data_type: TYPE_FP32 dims: 16 }\n'
const HEAD = `backend: "onnxruntime" max_batch_size: 8\n`

function check(text: string, options: Partial<CheckOptions> = {}) {
  const { config, tree, problems } = parsePbtxt(text)
  expect(problems).toEqual([])
  return checkConfig(completeConfig(config, FACTS), { strictIo: true, gpus: [], directoryName: 'M', tree, ...options })
}
const originalsOf = (text: string, options: Partial<CheckOptions> = {}) =>
  check(text, options)
    .filter((problem) => problem.severity === 'error')
    .map((problem) => problem.original)

const sequence = (inner: string) => `${HEAD}${IO}sequence_batching { ${inner} }`
const control = (kind: string, values: string) =>
  sequence(`control_input { name: "C" control { kind: ${kind} ${values} } }`)
const START = 'CONTROL_SEQUENCE_START'
const CORRID = 'CONTROL_SEQUENCE_CORRID'
const tensor = (inner: string, head = HEAD) => `${head}input { name: "I" ${inner} }`
const state = (inner: string) =>
  sequence(`state { input_name: "S" output_name: "T" data_type: TYPE_FP32 dims: 2 ${inner} }`)
const initial = (inner: string) => state(`initial_state { ${inner} }`)
const ensemble = (
  steps: string,
  rest = '',
  io = 'input { name: "A" data_type: TYPE_FP32 dims: 1 } output { name: "S" data_type: TYPE_FP32 dims: 1 }',
) => `platform: "ensemble" ${io} ensemble_scheduling { ${steps} } ${rest}`
const step = (from: string, to: string) =>
  `step { model_name: "m" input_map { key: "X" value: "${from}" } output_map { key: "Y" value: "${to}" } }`

/** Texts: engine/config.md §4 and engine/ensemble.md §1. */
it.each([
  // general
  [`name: "N" ${HEAD}`, "unexpected directory name 'M' for model 'N', directory name must equal model name"],
  ['platform: "nope_x"', "unexpected platform type 'nope_x' for M"],
  [
    '',
    "Invalid model name: Could not determine backend for model 'M' with no backend in model configuration. Expected model name of the form 'model.<backend_name>'.",
  ],
  [
    `platform: "ensemble" backend: "x" ${ensemble(step('A', 'S')).replace('platform: "ensemble"', '')}`,
    "Ensemble model 'M' must have platform type 'ensemble' and empty backend type",
  ],
  [
    'backend: "onnxruntime" platform: "tensorrt_plan"',
    "unexpected 'platform' and 'backend' pair, got:tensorrt_plan, onnxruntime",
  ],
  ['backend: "pytorch" platform: "libtorch"', "unexpected 'platform' and 'backend' pair, got:libtorch, pytorch"],
  [
    'backend: "mine" platform: "onnxruntime_onnx"',
    "unexpected 'platform' and 'backend' pair, got:onnxruntime_onnx, mine",
  ],
  ['backend: "x" max_batch_size: -1', "'max_batch_size' must be non-negative value for M"],
  // dynamic batching
  [`${HEAD}dynamic_batching { preferred_batch_size: 0 }`, 'dynamic batching preferred size must be positive for M'],
  [
    `${HEAD}dynamic_batching { preferred_batch_size: [ 4, 16 ] }`,
    'dynamic batching preferred size must be <= max batch size for M',
  ],
  [
    'backend: "x" dynamic_batching { preferred_batch_size: 2 }',
    'dynamic batching preferred size must be <= max batch size for M',
  ],
  [`${HEAD}dynamic_batching { priority_levels: 3 }`, 'default priority level must be in range [1, 3] for M'],
  [
    `${HEAD}dynamic_batching { priority_levels: 3 default_priority_level: 4 }`,
    'default priority level must be in range [1, 3] for M',
  ],
  [
    `${HEAD}dynamic_batching { priority_levels: 3 default_priority_level: 1 priority_queue_policy { key: 5 } }`,
    'priority queue policy must have priority level in range [1, 3] for M',
  ],
  [
    `${HEAD}dynamic_batching { priority_levels: 2 default_priority_level: 1 preserve_ordering: true }`,
    "Only one priority level is allowed when 'preserve_ordering' is true for M",
  ],
  [
    `${HEAD}dynamic_batching { priority_levels: 1 default_priority_level: 1 preserve_ordering: true default_queue_policy { timeout_action: DELAY default_timeout_microseconds: 1 } }`,
    "Queue policy can not have DELAY as timeout action when 'preserve_ordering' is true for M",
  ],
  // sequences
  [sequence('control_input { }'), 'sequence batching control tensor must have a name for M'],
  [
    sequence('control_input { name: "T" } control_input { name: "T" }'),
    "sequence batching control tensor 'T' is specified for multiple control kinds for M",
  ],
  [
    sequence(
      `control_input { name: "A" control { kind: ${START} int32_false_true: [0,1] } } control_input { name: "B" control { kind: ${START} int32_false_true: [0,1] } }`,
    ),
    `sequence batching specifies multiple ${START} tensors for M`,
  ],
  [
    control(START, ''),
    `sequence batching must specify either 'int32_false_true', 'fp32_false_true' or 'bool_false_true' for ${START} for M`,
  ],
  [
    control(START, 'int32_false_true: [0,1] fp32_false_true: [0,1]'),
    `sequence batching specifies more than one from 'int32_false_true', 'fp32_false_true' and 'bool_false_true' for ${START} for M`,
  ],
  [
    control(START, 'int32_false_true: [0]'),
    `sequence batching control 'int32_false_true' must have exactly 2 entries for ${START} for M`,
  ],
  [
    control(CORRID, 'int32_false_true: [0,1]'),
    `sequence batching must not specify either 'int32_false_true', 'fp32_false_true' or 'bool_false_true' for ${CORRID} for M`,
  ],
  [
    control(CORRID, ''),
    `unexpected data type for control ${CORRID} for M. Allowed data types are TYPE_UINT64, TYPE_INT64, TYPE_UINT32, TYPE_INT32 and TYPE_STRING`,
  ],
  [
    sequence('direct { minimum_slot_utilization: 1.5 }'),
    'sequence batching minimum slot utilization must be in range (0.0, 1.0] for M',
  ],
  [sequence('oldest { preferred_batch_size: -1 }'), 'sequence batching preferred batch size must be positive for M'],
  [
    sequence('oldest { preferred_batch_size: 9 }'),
    'sequence batching preferred batch size must be <= max batch size for M',
  ],
  // states
  [
    state('initial_state {} initial_state {}'),
    "initial_state field for state input 'S' must contain exactly one or zero element. Found '2' elements.",
  ],
  [
    initial('data_type: TYPE_FP32 dims: 2 zero_data: true'),
    "Field 'name' must be set when using initial_state for state input 'S'.",
  ],
  [
    initial('name: "i" data_type: TYPE_INT32 dims: 2 zero_data: true'),
    "The data type used for 'initial_state' field of state 'S' does not match the state data type.",
  ],
  [
    initial('name: "i" data_type: TYPE_FP32 dims: -1 zero_data: true'),
    "'initial_state' field for state input name 'S' contains variable dimensions.",
  ],
  [
    initial('name: "i" data_type: TYPE_FP32 dims: 3 zero_data: true'),
    "'initial_state' dim for input name 'S' doesn't match 'state' dim description. 3 != 2",
  ],
  [
    initial('name: "i" data_type: TYPE_FP32 dims: [2, 1] zero_data: true'),
    "Number of dimensions in 'initial_state' doesn't match the size of 'state' dimensions for state input 'S'. 2 != 1",
  ],
  [initial('name: "i" data_type: TYPE_FP32 dims: 2'), "initial_state setting expects state'S' to have state_data set"],
  // cache
  [
    `${HEAD}response_cache { enable: true } sequence_batching { }`,
    'Response Cache does not currently support model M with sequence batching scheduler. Please disable the response cache.',
  ],
  [
    `${HEAD}response_cache { enable: true } model_transaction_policy { decoupled: true }`,
    "Response Cache does not currently support model M with 'decoupled' transaction policy. Please disable the response cache.",
  ],
  // tensors
  [`${HEAD}input { data_type: TYPE_FP32 dims: 1 }`, "model input must specify 'name' for M"],
  [tensor('dims: 1'), "model input 'I' must specify 'data_type' for M"],
  [tensor('data_type: TYPE_FP32'), "model input 'I' must specify 'dims' for M"],
  [
    tensor('data_type: TYPE_FP32 dims: 0'),
    "model input 'I' dimension must be integer >= 1, or -1 to indicate a variable-size dimension for M",
  ],
  [
    `${HEAD}output { name: "O" data_type: TYPE_FP32 dims: -2 }`,
    "model output 'O' dimension must be integer >= 1, or -1 to indicate a variable-size dimension for M",
  ],
  [
    tensor('data_type: TYPE_FP32 dims: 1 reshape { shape: 0 }'),
    "model input 'I' reshape dimensions must be integer >= 1, or -1 to indicate a variable-size dimension for M",
  ],
  [
    tensor('data_type: TYPE_FP32 dims: 1 reshape { }', 'backend: "x"'),
    "model input 'I' cannot have empty reshape for non-batching model as scalar tensors are not supported for M",
  ],
  [
    tensor('data_type: TYPE_FP32 dims: 16 reshape { shape: [3, 5] }'),
    "model input 'I' has different size for dims and reshape for M",
  ],
  [tensor('data_type: TYPE_FP32 dims: 2 reshape { }'), "model input 'I' has different size for dims and reshape for M"],
  [
    tensor('data_type: TYPE_FP32 dims: -1 reshape { shape: [-1, -1] }'),
    "model input 'I' has different number of variable-size dimensions for dims and reshape for M",
  ],
  [
    tensor('data_type: TYPE_FP32 dims: [2, -1, 3] reshape { shape: [3, -1, 2] }'),
    "model input 'I' has different size for dims and reshape for M",
  ],
  [tensor('data_type: TYPE_FP32 dims: [1, 2] format: FORMAT_NCHW'), 'model input NHWC/NCHW require 3 dims for M'],
  [
    tensor('data_type: TYPE_FP32 dims: 1 is_shape_tensor: true'),
    'shape tensors are only supported for TensorRT platform for M',
  ],
  [
    tensor('data_type: TYPE_FP32 dims: 1 is_non_linear_format_io: true'),
    'Non-linear IO format is only supported for the TensorRT platform for M',
  ],
  // batch tensors
  [
    `${HEAD}${IO}batch_input { kind: BATCH_ITEM_SHAPE data_type: TYPE_FP32 }`,
    "batch input kind 'BATCH_ITEM_SHAPE' expects 1 source input, got 0 for M",
  ],
  [`${HEAD}${IO}batch_input { source_input: "I" }`, 'batch input data type must be TYPE_INT32 or TYPE_FP32 for M'],
  [`${HEAD}${IO}batch_input { source_input: "X" data_type: TYPE_FP32 }`, "unknown source input name 'X' for M"],
  [`${HEAD}${IO}batch_input { kind: 9 source_input: "I" data_type: TYPE_FP32 }`, "unknown batch input kind '' for M"],
  [
    `${HEAD}${IO}batch_output { target_name: "O" }`,
    "batch output kind 'BATCH_SCATTER_WITH_INPUT_SHAPE' expects 1 source input, got 0 for M",
  ],
  [`${HEAD}${IO}batch_output { target_name: "X" source_input: "I" }`, "unknown target output name 'X' for M"],
  [
    `${HEAD}${IO}batch_output { target_name: ["O", "O"] source_input: "I" }`,
    "target output name 'O' can only be specified once for M",
  ],
  // instances
  [
    `${HEAD}instance_group { count: 1000 } instance_group { count: 25 }`,
    'model M asks for 1025 instances, at most 1024 are made',
  ],
  [`${HEAD}instance_group { count: 2147483647 }`, 'model M asks for 2147483647 instances, at most 1024 are made'],
  [
    `${HEAD}instance_group { kind: KIND_CPU gpus: 0 }`,
    'instance group M_0 of model M has kind KIND_CPU but specifies one or more GPUs',
  ],
  [
    `${HEAD}instance_group { kind: KIND_MODEL gpus: 0 }`,
    'instance group M_0 of model M has kind KIND_MODEL but specifies one or more GPUs',
  ],
  [
    `${HEAD}instance_group { gpus: 0 }`,
    'instance group M_0 of model M has kind KIND_CPU but specifies one or more GPUs',
  ],
  [
    `${HEAD}instance_group { kind: KIND_GPU }`,
    'instance group M_0 of model M has kind KIND_GPU but no GPUs are available',
  ],
  [
    `${HEAD}instance_group { kind: KIND_CPU profile: "0" }`,
    'instance group M_0 of model M and platform onnxruntime_onnxspecifies profile field which is only supported for TensorRT models',
  ],
  [
    'backend: "tensorrt" instance_group { kind: KIND_CPU profile: "x" }',
    'instance group M_0 of model M specifies invalid profile x. The field should contain the string representation of a non-negative integer.',
  ],
  // metrics
  [
    `${HEAD}model_metrics { metric_control { histogram_options { buckets: 1 } } }`,
    "metric control must specify 'metric_identifier'",
  ],
  [
    `${HEAD}model_metrics { metric_control { metric_identifier { } histogram_options { buckets: 1 } } }`,
    "metric identifier must specify non-empty 'family'",
  ],
  [
    `${HEAD}model_metrics { metric_control { metric_identifier { family: "f" } } }`,
    "metric control must specify 'histogram_options'",
  ],
  [
    `${HEAD}model_metrics { metric_control { metric_identifier { family: "f" } histogram_options { } } }`,
    "histogram options must specify non-empty 'buckets'",
  ],
  // ensembles
  ['platform: "ensemble"', 'ensemble scheduling must be set for ensemble M whose platform is ensemble'],
  [
    'backend: "x" ensemble_scheduling { }',
    "ensemble scheduling cannot be set for model 'M' whose platform is not ensemble",
  ],
  [ensemble(''), "must specify 'step' for ensemble 'M'"],
  [ensemble(step('A', 'S'), 'instance_group { }'), "instance group should not be specified for ensemble 'M'"],
  [ensemble(step('A', 'S'), 'optimization { }'), "optimization should not be specified for ensemble 'M'"],
  [ensemble(step('A', 'S'), 'model_warmup { }'), "model_warmup can not be specified for ensemble 'M'"],
  [
    ensemble('step { input_map { key: "X" value: "A" } output_map { key: "Y" value: "S" } }'),
    "must specify 'model_name' in step 0 of ensemble 'M'",
  ],
  [
    ensemble('step { model_name: "m" output_map { key: "Y" value: "S" } }'),
    "must specify 'input_map' in step 0 of ensemble 'M'",
  ],
  [
    ensemble('step { model_name: "m" input_map { key: "X" value: "A" } }'),
    "must specify 'output_map' in step 0 of ensemble 'M'",
  ],
  [
    ensemble(step('A', 'S') + step('A', 'S')),
    "ensemble tensor 'S' can appear in an output map only once for ensemble 'M' step 1",
  ],
  [ensemble(step('S', 'S')), "ensemble input 'A' for ensemble M' is not used"],
  [ensemble(step('A', 'T')), "ensemble output 'S' for ensemble M' is not used"],
  [
    ensemble(step('A', 'T') + step('B', 'S')),
    "output 'S' for ensemble 'M' is not written: at least one of its depending tensors, 'B', is not connected",
  ],
  [ensemble(step('A', 'S') + step('A', 'T')), "ensemble tensor 'T' is unused in ensemble 'M'"],
])('%s → %s', (text, original) => {
  expect(originalsOf(text)[0]).toBe(original)
})

it.each([
  HEAD + IO,
  'backend: "mine" platform: "mine_too"',
  `${HEAD}dynamic_batching { }`,
  'backend: "x" dynamic_batching { }',
  `${HEAD}dynamic_batching { preserve_ordering: true default_queue_policy { timeout_action: DELAY default_timeout_microseconds: 1 } priority_queue_policy { key: 7 } }`,
  sequence(''),
  sequence('direct { minimum_slot_utilization: 0 }'),
  sequence('oldest { max_candidate_sequences: 0 }'),
  sequence('state { input_name: "A" output_name: "B" } state { input_name: "A" output_name: "B" }'),
  control(CORRID, 'data_type: TYPE_STRING'),
  tensor('data_type: TYPE_FP32 dims: 1 reshape { }'),
  tensor('data_type: TYPE_FP32 dims: [4, 4, -1, 2] reshape { shape: [16, -1, 2] }'),
  `${HEAD}${IO}${IO}`,
  `${HEAD}${IO}batch_input { source_input: "I" data_type: TYPE_INT32 }`,
  `${HEAD}instance_group [ { kind: KIND_CPU count: 0 }, { count: 1 }, { kind: KIND_MODEL } ]`,
  `${HEAD}response_cache { enable: true }`,
  ensemble(step('A', 'S')),
  ensemble(step('T', 'S') + step('A', 'T')),
])('accepts %s', (text) => {
  expect(originalsOf(text)).toEqual([])
})

it('leaves tensors to the load when strictIo is off', () => {
  expect(originalsOf(tensor('dims: 0'), { strictIo: false })).toEqual([])
})

it('complains about everything at once, with places', () => {
  const text = `${HEAD}dynamic_batching { preferred_batch_size: [ 4, 16 ] }
input [ { name: "I" data_type: TYPE_FP32 dims: [ 0 ] }, { name: "J" dims: [ 1 ] } ]
instance_group { kind: KIND_GPU }
`
  expect(
    check(text).map((problem) => [
      problem.line,
      problem.path,
      text.slice(problem.offset, problem.offset + problem.length),
    ]),
  ).toEqual([
    [2, 'dynamic_batching.preferred_batch_size[1]', '16'],
    [3, 'input[0].dims[0]', '0'],
    [3, 'input[1]', '{ name: "J" dims: [ 1 ] }'],
    [4, 'instance_group[0]', '{ kind: KIND_GPU }'],
  ])
  expect(check(text)[0]?.message).toContain('preferred 16, max_batch_size 8')
})

it.each([
  [
    `${HEAD}dynamic_batching { preferred_batch_size: [ 4, 16 ] }`,
    'preferred_batch_size: [ 4, 16 ]',
    'preferred_batch_size: [ 4 ]',
  ],
  ['backend: "x"\nmax_batch_size: -1\n', 'max_batch_size: -1', 'max_batch_size: 0'],
  ['name: "N"\nbackend: "x"\n', 'name: "N"\n', ''],
  ['platform: "onnxruntime_onx"', 'onnxruntime_onx', 'onnxruntime_onnx'],
  [tensor('data_type: TYPE_FP32'), 'TYPE_FP32 }', 'TYPE_FP32 dims: [ 1 ] }'],
  [`${HEAD}instance_group { kind: KIND_GPU }`, 'KIND_GPU', 'KIND_CPU'],
  [`${HEAD}instance_group { kind: KIND_CPU gpus: 0 }`, ' gpus: 0', ''],
  [control(CORRID, ''), `${CORRID}  }`, `${CORRID} data_type: TYPE_UINT64  }`],
  [ensemble(step('A', 'S'), 'optimization { }'), ' optimization { }', ''],
])('repairs %j', (text, before, after) => {
  const fix = check(text)[0]?.fix
  const repaired = applyEdits(text, fix?.edits ?? [])
  expect(repaired).toBe(text.replace(before, after))
  expect(originalsOf(repaired)).toEqual([])
})

it('offers to drop a batch dimension written into dims', () => {
  const text = tensor('data_type: TYPE_FP32 dims: [ -1, 3, 8, 8 ]')
  const [hint] = check(text)
  expect(hint).toMatchObject({ severity: 'hint', path: 'input[0].dims[0]', fix: { title: 'Remove the leading -1' } })
  expect(applyEdits(text, hint?.fix?.edits ?? [])).toContain('dims: [ 3, 8, 8 ]')
})

it('shows how a scalar per row is written', () => {
  expect(check(tensor('data_type: TYPE_FP32'))[0]?.message).toContain('dims: [ 1 ] reshape: { shape: [ ] }')
})

it('names the GPUs that are there', () => {
  const { config } = parsePbtxt(`${HEAD}instance_group { kind: KIND_GPU gpus: 1 }`)
  const [problem] = checkConfig(completeConfig(config, { ...FACTS, gpus: [0] }), { strictIo: false, gpus: [0] })
  expect(problem?.message).toContain('GPU id 1 is not present; visible ids: 0')
  expect(problem?.line).toBe(0)
})

it('looks for label files when it is told what is there', () => {
  const text = `${HEAD}output [ { name: "O" data_type: TYPE_FP32 dims: 1 label_filename: "nolabels.txt" }, { name: "P" data_type: TYPE_FP32 dims: 1 label_filename: "../x" }, { name: "Q" data_type: TYPE_FP32 dims: 1 label_filename: "labels.txt" } ]`
  const files = { directory: '/models/M', has: (path: string) => path === 'labels.txt' }
  expect(check(text, { files }).map((problem) => [problem.code, problem.original])).toEqual([
    ['INTERNAL', 'failed to open text file for read /models/M/nolabels.txt: No such file or directory'],
    ['UNSUPPORTED', "label file path '../x' for output 'P' in model 'M' is outside model directory"],
  ])
})

it('follows a long chain of steps in linear time, listed backwards', () => {
  const steps = Array.from({ length: 20_000 }, (_, index) => ({
    model_name: 'm',
    model_version: -1,
    input_map: { X: index === 0 ? 'A' : `t${index}` },
    output_map: { Y: index === 19_999 ? 'S' : `t${index + 1}` },
    model_namespace: '',
  })).reverse()
  const config = normaliseConfig(parsePbtxt(ensemble('')).config)
  config.name = 'M'
  config.ensemble_scheduling = { step: steps, max_inflight_requests: 0 }
  expect(checkConfig(config, { strictIo: true })).toEqual([])
})

it('stays cheap when everything is wrong', () => {
  const text = `${HEAD}${'input { dims: 0 reshape { shape: 0 } } batch_input { source_input: "x" }\n'.repeat(20_000)}`
  const { config, tree } = parsePbtxt(text)
  const start = performance.now()
  expect(checkConfig(config, { strictIo: true, tree }).length).toBe(1000)
  expect(performance.now() - start).toBeLessThan(20_000)
}, 60_000)

it('warns about warm-up samples that cannot run', () => {
  const sample = (inner: string) => `${HEAD}${IO}model_warmup { name: "w" ${inner} }`
  const messagesOf = (text: string) => check(text).map((problem) => [problem.severity, problem.message])
  const data = 'value { data_type: TYPE_FP32 dims: 16 zero_data: true }'
  expect(messagesOf(sample(`batch_size: 1 inputs { key: "I" ${data} }`))).toEqual([])
  expect(messagesOf(sample(`batch_size: 99 inputs { key: "input" ${data} }`))).toEqual([
    ['warning', "warm-up 'w': batch_size 99 is above the maximum of 8"],
    ['warning', "warm-up 'w': unknown input 'input'; model inputs: I"],
    ['warning', "warm-up 'w': input 'I' is missing"],
  ])
  const text = sample('inputs { key: "I" value { data_type: TYPE_FP32 dims: 16 } }')
  expect(messagesOf(text)).toEqual([
    ['warning', "warm-up 'w': batch_size 0, the sample is skipped"],
    ['warning', "warm-up 'w': input 'I' has none of zero_data, random_data, input_data_file"],
  ])
  const edits = check(text).flatMap((problem) => problem.fix?.edits ?? [])
  expect(check(applyEdits(text, edits))).toEqual([])
})

it('holds preferred sizes against the largest batch only once it is known (field case C07)', () => {
  const text = 'backend: "onnxruntime" dynamic_batching { preferred_batch_size: [ 256 ] }'
  expect(originalsOf(text, { strictIo: false })).toEqual([])
  expect(originalsOf(text)).toContain('dynamic batching preferred size must be <= max batch size for M')
})
