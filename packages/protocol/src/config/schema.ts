/**
 * The model configuration as data. Field names are the original's (`inference.ModelConfig`).
 * Scalars, lists and maps are always present (proto3 defaults); messages that were not written are undefined.
 * 64-bit counters are bigint; dimensions and versions are safe integers.
 */
export type ConfigDatatype =
  | 'TYPE_INVALID'
  | 'TYPE_BOOL'
  | 'TYPE_UINT8'
  | 'TYPE_UINT16'
  | 'TYPE_UINT32'
  | 'TYPE_UINT64'
  | 'TYPE_INT8'
  | 'TYPE_INT16'
  | 'TYPE_INT32'
  | 'TYPE_INT64'
  | 'TYPE_FP16'
  | 'TYPE_FP32'
  | 'TYPE_FP64'
  | 'TYPE_STRING'
  | 'TYPE_BF16'

export interface ModelReshape {
  shape: number[]
}
export interface ModelInput {
  name: string
  data_type: ConfigDatatype
  format: 'FORMAT_NONE' | 'FORMAT_NHWC' | 'FORMAT_NCHW'
  dims: number[]
  reshape?: ModelReshape | undefined
  is_shape_tensor: boolean
  allow_ragged_batch: boolean
  optional: boolean
  is_non_linear_format_io: boolean
}
export interface ModelOutput {
  name: string
  data_type: ConfigDatatype
  dims: number[]
  reshape?: ModelReshape | undefined
  label_filename: string
  is_shape_tensor: boolean
  is_non_linear_format_io: boolean
}
export interface BatchInput {
  kind:
    | 'BATCH_ELEMENT_COUNT'
    | 'BATCH_ACCUMULATED_ELEMENT_COUNT'
    | 'BATCH_ACCUMULATED_ELEMENT_COUNT_WITH_ZERO'
    | 'BATCH_MAX_ELEMENT_COUNT_AS_SHAPE'
    | 'BATCH_ITEM_SHAPE'
    | 'BATCH_ITEM_SHAPE_FLATTEN'
  target_name: string[]
  data_type: ConfigDatatype
  source_input: string[]
}
export interface BatchOutput {
  target_name: string[]
  kind: 'BATCH_SCATTER_WITH_INPUT_SHAPE'
  source_input: string[]
}
export interface ModelVersionPolicy {
  latest?: { num_versions: number } | undefined
  all?: Record<string, never> | undefined
  specific?: { versions: number[] } | undefined
}
export type InstanceKind = 'KIND_AUTO' | 'KIND_GPU' | 'KIND_CPU' | 'KIND_MODEL'
export interface ModelRateLimiter {
  resources: { name: string; global: boolean; count: number }[]
  priority: number
}
export interface ModelInstanceGroup {
  name: string
  kind: InstanceKind
  count: number
  rate_limiter?: ModelRateLimiter | undefined
  gpus: number[]
  secondary_devices: { kind: 'KIND_NVDLA'; device_id: bigint }[]
  profile: string[]
  passive: boolean
  host_policy: string
}
export interface Accelerator {
  name: string
  parameters: Record<string, string>
}
export interface CudaGraphSpec {
  batch_size: number
  input: Record<string, { dim: number[] }>
  graph_lower_bound?: { batch_size: number; input: Record<string, { dim: number[] }> } | undefined
}
export interface ModelOptimizationPolicy {
  graph?: { level: number } | undefined
  priority: 'PRIORITY_DEFAULT' | 'PRIORITY_MAX' | 'PRIORITY_MIN'
  cuda?:
    { graphs: boolean; busy_wait_events: boolean; graph_spec: CudaGraphSpec[]; output_copy_stream: boolean } | undefined
  execution_accelerators?:
    { gpu_execution_accelerator: Accelerator[]; cpu_execution_accelerator: Accelerator[] } | undefined
  input_pinned_memory?: { enable: boolean } | undefined
  output_pinned_memory?: { enable: boolean } | undefined
  gather_kernel_buffer_threshold: number
  eager_batching: boolean
}
export interface ModelQueuePolicy {
  timeout_action: 'REJECT' | 'DELAY'
  default_timeout_microseconds: bigint
  allow_timeout_override: boolean
  max_queue_size: number
}
export interface ModelDynamicBatching {
  preferred_batch_size: number[]
  max_queue_delay_microseconds: bigint
  preserve_ordering: boolean
  priority_levels: bigint
  default_priority_level: bigint
  default_queue_policy?: ModelQueuePolicy | undefined
  /** Keyed by the level in decimal. */
  priority_queue_policy: Record<string, ModelQueuePolicy>
}
export type ControlKind =
  'CONTROL_SEQUENCE_START' | 'CONTROL_SEQUENCE_READY' | 'CONTROL_SEQUENCE_END' | 'CONTROL_SEQUENCE_CORRID'
export interface SequenceControl {
  kind: ControlKind
  int32_false_true: number[]
  fp32_false_true: number[]
  bool_false_true: boolean[]
  data_type: ConfigDatatype
}
export interface InitialState {
  data_type: ConfigDatatype
  dims: number[]
  zero_data?: boolean | undefined
  data_file?: string | undefined
  name: string
}
export interface SequenceState {
  input_name: string
  output_name: string
  data_type: ConfigDatatype
  dims: number[]
  initial_state: InitialState[]
  use_same_buffer_for_input_output: boolean
  use_growable_memory: boolean
}
export interface ModelSequenceBatching {
  max_sequence_idle_microseconds: bigint
  control_input: { name: string; control: SequenceControl[] }[]
  direct?: { max_queue_delay_microseconds: bigint; minimum_slot_utilization: number } | undefined
  oldest?:
    | {
        max_candidate_sequences: number
        preferred_batch_size: number[]
        max_queue_delay_microseconds: bigint
        preserve_ordering: boolean
      }
    | undefined
  state: SequenceState[]
  iterative_sequence: boolean
}
export interface EnsembleStep {
  model_name: string
  model_version: number
  input_map: Record<string, string>
  output_map: Record<string, string>
  model_namespace: string
}
export interface WarmupInput {
  data_type: ConfigDatatype
  dims: number[]
  zero_data?: boolean | undefined
  random_data?: boolean | undefined
  input_data_file?: string | undefined
}
export interface ModelWarmup {
  name: string
  batch_size: number
  inputs: Record<string, WarmupInput>
  count: number
}
export interface MetricControl {
  metric_identifier?: { family: string } | undefined
  histogram_options?: { buckets: number[] } | undefined
}
export interface ModelConfig {
  name: string
  platform: string
  backend: string
  runtime: string
  version_policy?: ModelVersionPolicy | undefined
  max_batch_size: number
  input: ModelInput[]
  output: ModelOutput[]
  batch_input: BatchInput[]
  batch_output: BatchOutput[]
  optimization?: ModelOptimizationPolicy | undefined
  dynamic_batching?: ModelDynamicBatching | undefined
  sequence_batching?: ModelSequenceBatching | undefined
  ensemble_scheduling?: { step: EnsembleStep[]; max_inflight_requests: number } | undefined
  instance_group: ModelInstanceGroup[]
  default_model_filename: string
  cc_model_filenames: Record<string, string>
  metric_tags: Record<string, string>
  parameters: Record<string, { string_value: string }>
  model_warmup: ModelWarmup[]
  model_operations?: { op_library_filename: string[] } | undefined
  model_transaction_policy?: { decoupled: boolean } | undefined
  model_repository_agents?: { agents: { name: string; parameters: Record<string, string> }[] } | undefined
  response_cache?: { enable: boolean } | undefined
  model_metrics?: { metric_control: MetricControl[] } | undefined
}
