import { expect, it } from 'vitest'
import { configOf, CPU } from '../contract.suite.ts'
import { planSession } from './session-plan.ts'

const GPU = { kind: 'KIND_GPU', deviceId: 1 } as const

async function plan(text: string, spec: Pick<typeof CPU, 'kind' | 'deviceId'> = CPU) {
  return planSession(await configOf('add_sub', text), spec)
}
const parameter = (key: string, value: string) => `parameters { key: "${key}" value { string_value: "${value}" } }`

it('has defaults that fit the machine', async () => {
  const made = await plan('instance_group { count: 1000 kind: KIND_CPU }')
  expect(made).toMatchObject({
    intraOpThreads: 1,
    interOpThreads: 0,
    parallel: false,
    graphLevel: 99,
    accelerators: [],
  })
  expect(made.sessionEntries).toContainEqual(['session.intra_op.allow_spinning', '0'])
})

it('reads every parameter', async () => {
  const made = await plan(
    [
      parameter('intra_op_thread_count', '3'),
      parameter('inter_op_thread_count', '2'),
      parameter('execution_mode', '1'),
      parameter('enable_mem_arena', 'OFF'),
      parameter('enable_mem_pattern', 'true'),
      parameter('session.use_device_allocator_for_initializers', '1'),
      parameter('memory.enable_memory_arena_shrinkage', 'cpu:0'),
      parameter('whatever', 'x'),
      'model_operations { op_library_filename: "/opt/ops.so" }',
    ].join('\n'),
  )
  expect(made).toMatchObject({
    intraOpThreads: 3,
    interOpThreads: 2,
    parallel: true,
    memoryArena: false,
    memoryPattern: true,
    runEntries: [['memory.enable_memory_arena_shrinkage', 'cpu:0']],
    operatorLibraries: ['/opt/ops.so'],
  })
  expect(made.sessionEntries).toContainEqual(['session.use_device_allocator_for_initializers', '1'])
})

it.each([
  [-1, 1],
  [0, 99],
  [1, 2],
  [2, 0],
  [7, 99],
])('graph level %d is %d to the library', async (level, expected) => {
  expect((await plan(`optimization { graph { level: ${level} } }`)).graphLevel).toBe(expected)
})

it.each([
  [parameter('intra_op_thread_count', 'abc'), "failed to convert 'abc' to integral number"],
  [
    parameter('execution_mode', '5'),
    'Invalid configuration value provided. Expected values for  execution_mode are 0 or 1 but got 5 .',
  ],
  [parameter('enable_mem_arena', 'maybe'), "failed to convert 'maybe' to boolean"],
  [
    'optimization { execution_accelerators { cpu_execution_accelerator { name: "foo" } } }',
    "unknown Execution Accelerator 'foo' is requested",
  ],
])('%s is refused', async (text, message) => {
  await expect(plan(text)).rejects.toThrow(message)
})

const gpuAccelerator = (inner: string) =>
  `optimization { execution_accelerators { gpu_execution_accelerator { ${inner} } } }`

it('translates the parameters of accelerators', async () => {
  const tensorRt = await plan(
    gpuAccelerator(`name: "tensorrt"
      parameters { key: "precision_mode" value: "FP16" }
      parameters { key: "max_workspace_size_bytes" value: "1073741825" }
      parameters { key: "trt_engine_cache_enable" value: "true" }
      parameters { key: "trt_engine_cache_path" value: "/cache" }
      parameters { key: "trt_dla_core" value: "2" }`),
    GPU,
  )
  expect(tensorRt.accelerators).toEqual([
    {
      provider: 'tensorrt',
      options: {
        device_id: '1',
        trt_fp16_enable: '1',
        trt_max_workspace_size: '1073741825',
        trt_engine_cache_enable: '1',
        trt_engine_cache_path: '/cache',
        trt_dla_core: '2',
      },
    },
    { provider: 'cuda', options: { device_id: '1' } },
  ])
  const cuda = await plan(
    `${gpuAccelerator('name: "cuda" parameters { key: "do_copy_in_default_stream" value: "off" } parameters { key: "enable_cuda_graph" value: "1" }')}
     ${parameter('cudnn_conv_algo_search', '1')} ${parameter('gpu_mem_limit', '1000')} ${parameter('arena_extend_strategy', '1')}`,
    GPU,
  )
  expect(cuda.accelerators).toEqual([
    {
      provider: 'cuda',
      options: {
        device_id: '1',
        cudnn_conv_algo_search: 'HEURISTIC',
        arena_extend_strategy: 'kSameAsRequested',
        gpu_mem_limit: '1000',
        do_copy_in_default_stream: '0',
        enable_cuda_graph: '1',
      },
    },
  ])
})

it.each([
  [
    gpuAccelerator('name: "tensorrt" parameters { key: "precision_mode" value: "FP4" }'),
    "unsupported precision mode 'FP4' is requested",
  ],
  [
    gpuAccelerator('name: "tensorrt" parameters { key: "zzz" value: "1" }'),
    "unknown parameter 'zzz' is provided for TensorRT Execution Accelerator",
  ],
  [gpuAccelerator('name: "foo"'), "unknown Execution Accelerator 'foo' is requested"],
  [parameter('cudnn_conv_algo_search', '5'), "unsupported cudnn_conv_algo_search value '5' is requested"],
])('%s is refused for a GPU instance and ignored for a CPU one', async (text, message) => {
  await expect(plan(text, GPU)).rejects.toThrow(message)
  expect((await plan(text)).accelerators).toEqual([])
})
