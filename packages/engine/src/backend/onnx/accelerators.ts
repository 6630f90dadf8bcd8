import { ConchError } from '@conch/protocol'
import type { Accelerator, ModelConfig } from '@conch/protocol'
import type { InstanceSpec } from '../contract.ts'
import { readBoolean, readInteger, readUnsigned } from './parameter.ts'

/** One execution provider with its options in the library's own words; earlier ones take precedence. */
export interface AcceleratorPlan {
  readonly provider: 'tensorrt' | 'cuda' | 'openvino'
  readonly options: Readonly<Record<string, string>>
}

type Placement = Pick<InstanceSpec, 'kind' | 'deviceId'>

/** Throws INVALID_ARG with the original's texts (ONNX backend §5). */
export function planAccelerators(config: ModelConfig, spec: Placement): readonly AcceleratorPlan[] {
  const asked = config.optimization?.execution_accelerators
  const plans: AcceleratorPlan[] = []
  if (spec.kind === 'KIND_GPU') {
    const gpu = asked?.gpu_execution_accelerator ?? []
    plans.push(...gpu.filter(({ name }) => name !== 'cuda').map((one) => planTensorRt(one, spec)))
    plans.push(
      planCuda(
        config,
        gpu.find(({ name }) => name === 'cuda'),
        spec,
      ),
    )
  }
  for (const { name } of asked?.cpu_execution_accelerator ?? []) {
    if (name !== 'openvino') refuseAccelerator(name)
    plans.push({ provider: 'openvino', options: { device_type: 'CPU' } })
  }
  return plans
}

const INTEGERS = [
  'trt_max_partition_iterations',
  'trt_min_subgraph_size',
  'trt_dla_core',
  'trt_builder_optimization_level',
  'trt_auxiliary_streams',
  'trt_ep_context_embed_mode',
]
const BOOLEANS = [
  'trt_dla_enable',
  'trt_engine_cache_enable',
  'trt_dump_subgraphs',
  'trt_force_sequential_engine_build',
  'trt_context_memory_sharing_enable',
  'trt_layer_norm_fp32_fallback',
  'trt_timing_cache_enable',
  'trt_force_timing_cache',
  'trt_detailed_build_log',
  'trt_build_heuristics_enable',
  'trt_sparsity_enable',
  'trt_cuda_graph_enable',
  'trt_dump_ep_context_model',
]
const TEXTS = [
  'trt_engine_cache_path',
  'trt_engine_cache_prefix',
  'trt_timing_cache_path',
  'trt_tactic_sources',
  'trt_extra_plugin_lib_paths',
  'trt_profile_min_shapes',
  'trt_profile_max_shapes',
  'trt_profile_opt_shapes',
  'trt_ep_context_file_path',
]
const PRECISIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  FP32: {},
  FP16: { trt_fp16_enable: '1' },
  BF16: { trt_bf16_enable: '1' },
  INT8: { trt_int8_enable: '1' },
}

function planTensorRt({ name, parameters }: Accelerator, { deviceId }: Placement): AcceleratorPlan {
  if (name !== 'tensorrt') refuseAccelerator(name)
  const options = { trt_max_workspace_size: String(2 ** 30), device_id: String(deviceId) }
  for (const [key, text] of Object.entries(parameters)) Object.assign(options, readTensorRtOption(key, text))
  return { provider: 'tensorrt', options }
}

function readTensorRtOption(key: string, text: string): Readonly<Record<string, string>> {
  if (INTEGERS.includes(key)) return { [key]: String(readInteger(text)) }
  if (BOOLEANS.includes(key)) return { [key]: readFlag(text) }
  if (TEXTS.includes(key)) return { [key]: text }
  switch (key) {
    case 'precision_mode': {
      const precision = Object.hasOwn(PRECISIONS, text) ? PRECISIONS[text] : undefined
      if (precision !== undefined) return precision
      throw new ConchError('INVALID_ARG', `unsupported precision mode '${text}' is requested`)
    }
    case 'max_workspace_size_bytes':
      return { trt_max_workspace_size: readUnsigned(text) }
    case 'int8_calibration_table_name':
      return { trt_int8_calibration_table_name: text }
    case 'int8_use_native_calibration_table':
      return { trt_int8_use_native_calibration_table: readFlag(text) }
    default:
      throw new ConchError('INVALID_ARG', `unknown parameter '${key}' is provided for TensorRT Execution Accelerator`)
  }
}

const CUDA_FLAGS = ['do_copy_in_default_stream', 'use_ep_level_unified_stream']

/** CUDA comes with every GPU instance, asked for or not; the model's own parameters are the older spelling. */
function planCuda(config: ModelConfig, asked: Accelerator | undefined, { deviceId }: Placement): AcceleratorPlan {
  const options: Record<string, string> = { device_id: String(deviceId), ...readOldCudaOptions(config) }
  for (const [key, text] of Object.entries(asked?.parameters ?? {})) {
    options[key] = CUDA_FLAGS.includes(key) ? readFlag(text) : text
  }
  return { provider: 'cuda', options }
}

const CONVOLUTION_SEARCHES = ['EXHAUSTIVE', 'HEURISTIC', 'DEFAULT']
const ARENA_STRATEGIES = ['kNextPowerOfTwo', 'kSameAsRequested']

function readOldCudaOptions({ parameters }: ModelConfig): Readonly<Record<string, string>> {
  const options: Record<string, string> = {}
  const pick = (key: string, names: readonly string[]) => {
    const text = parameters[key]?.string_value
    if (text === undefined) return
    const number = readInteger(text)
    const name = names[number]
    if (name === undefined) throw new ConchError('INVALID_ARG', `unsupported ${key} value '${number}' is requested`)
    options[key] = name
  }
  pick('cudnn_conv_algo_search', CONVOLUTION_SEARCHES)
  pick('arena_extend_strategy', ARENA_STRATEGIES)
  const limit = parameters['gpu_mem_limit']?.string_value
  if (limit !== undefined) options['gpu_mem_limit'] = readUnsigned(limit)
  const copy = parameters['do_copy_in_default_stream']?.string_value
  if (copy !== undefined) options['do_copy_in_default_stream'] = readInteger(copy) === 0 ? '0' : '1'
  return options
}

function readFlag(text: string): string {
  return readBoolean(text) ? '1' : '0'
}

function refuseAccelerator(name: string): never {
  throw new ConchError('INVALID_ARG', `unknown Execution Accelerator '${name}' is requested`)
}
