import type { MessageTable } from './descriptor-table.ts'

const SCHEDULING = { oneof: 'scheduling_choice' } as const
const POLICY = { oneof: 'policy_choice' } as const

/** The configuration itself and what hangs directly below it: messages by their name below `inference.`. */
export const MODEL_MESSAGES: Readonly<Record<string, MessageTable>> = {
  ModelConfig: {
    doc: 'How a model is served: config.pbtxt.',
    fields: [
      ['string name', 1, 'Name of the model; must be the name of its directory. May be left out.'],
      [
        'string platform',
        2,
        'Old way to name the backend (onnxruntime_onnx, tensorrt_plan, …); "ensemble" for ensembles.',
      ],
      ['string backend', 17, 'Which runtime: onnxruntime, python, openvino, tensorrt, identity, …'],
      ['string runtime', 25, 'File of the backend, when it is not the usual one.'],
      ['ModelVersionPolicy version_policy', 3, 'Which versions are served; default: the newest.'],
      ['int32 max_batch_size', 4, 'Most rows of one batch; 0 = the model does not batch and dims are complete.'],
      ['repeated ModelInput input', 5, 'Inputs of the model.'],
      ['repeated ModelOutput output', 6, 'Outputs of the model.'],
      ['repeated BatchInput batch_input', 20, 'Tensors made from all requests of a batch (ragged batches).'],
      ['repeated BatchOutput batch_output', 21, 'How outputs of ragged batches are cut.'],
      ['ModelOptimizationPolicy optimization', 12, 'Graph level, accelerators, memory.'],
      [
        'ModelDynamicBatching dynamic_batching',
        11,
        'Requests that arrive close together run as one batch.',
        SCHEDULING,
      ],
      [
        'ModelSequenceBatching sequence_batching',
        13,
        'For stateful models: sequences keep their instance.',
        SCHEDULING,
      ],
      ['ModelEnsembling ensemble_scheduling', 15, 'The model is a graph of other models.', SCHEDULING],
      ['repeated ModelInstanceGroup instance_group', 7, 'How many copies run, and where.'],
      ['string default_model_filename', 8, 'Model file in the version directory; default by backend.'],
      ['map<string, string> cc_model_filenames', 9, 'Compute capability ("7.5") → model file (TensorRT).'],
      ['map<string, string> metric_tags', 10, 'Further labels of the metrics of this model.'],
      ['map<string, ModelParameter> parameters', 14, 'Settings of the backend; values are strings.'],
      ['repeated ModelWarmup model_warmup', 16, 'Requests run before the model is ready.'],
      ['ModelOperations model_operations', 18, 'Libraries with custom operators.'],
      ['ModelTransactionPolicy model_transaction_policy', 19, 'How many answers a request has.'],
      ['ModelRepositoryAgents model_repository_agents', 23, 'Programs that treat the files before the load.'],
      ['ModelResponseCache response_cache', 24, 'Whether answers are cached.'],
      ['ModelMetrics model_metrics', 26, 'Histogram buckets of this model.'],
    ],
  },
  ModelVersionPolicy: {
    doc: 'Which versions are served: one of latest, all, specific.',
    fields: [
      ['ModelVersionPolicy.Latest latest', 1, 'The newest ones.', POLICY],
      ['ModelVersionPolicy.All all', 2, 'Every version.', POLICY],
      ['ModelVersionPolicy.Specific specific', 3, 'The listed ones.', POLICY],
    ],
  },
  'ModelVersionPolicy.Latest': {
    doc: 'The newest versions.',
    fields: [['uint32 num_versions', 1, 'How many; must not be 0.']],
  },
  'ModelVersionPolicy.All': { doc: 'Every version.', fields: [] },
  'ModelVersionPolicy.Specific': {
    doc: 'Listed versions; missing ones are logged and skipped.',
    fields: [['repeated int64 versions', 1, 'The versions.']],
  },
  ModelOptimizationPolicy: {
    doc: 'Graph level, accelerators, memory.',
    fields: [
      ['ModelOptimizationPolicy.Graph graph', 1, 'How much the graph is optimised.'],
      ['ModelOptimizationPolicy.ModelPriority priority', 2, 'Priority among models.'],
      ['ModelOptimizationPolicy.Cuda cuda', 3, 'CUDA graphs.'],
      ['ModelOptimizationPolicy.ExecutionAccelerators execution_accelerators', 4, 'Execution providers to use.'],
      ['ModelOptimizationPolicy.PinnedMemoryBuffer input_pinned_memory', 5, 'Pinned memory for inputs.'],
      ['ModelOptimizationPolicy.PinnedMemoryBuffer output_pinned_memory', 6, 'Pinned memory for outputs.'],
      ['uint32 gather_kernel_buffer_threshold', 7, 'Buffers above this count are gathered by a kernel; 0 = never.'],
      ['bool eager_batching', 8, 'Batches are prepared before an instance is free.'],
    ],
  },
  'ModelOptimizationPolicy.Graph': {
    doc: 'How much the graph is optimised.',
    fields: [['int32 level', 1, '-1 basic, 0 default, 1 extended, 2 off (ONNX Runtime).']],
  },
  'ModelOptimizationPolicy.Cuda': {
    doc: 'CUDA graphs (TensorRT).',
    fields: [
      ['bool graphs', 1, 'Capture and replay CUDA graphs.'],
      ['bool busy_wait_events', 2, 'Wait for events by spinning.'],
      ['repeated ModelOptimizationPolicy.Cuda.GraphSpec graph_spec', 3, 'Shapes to capture.'],
      ['bool output_copy_stream', 4, 'Copy outputs on a stream of their own.'],
    ],
  },
  'ModelOptimizationPolicy.Cuda.GraphSpec': {
    doc: 'One shape to capture.',
    fields: [
      ['int32 batch_size', 1, 'Batch size; 0 = no batch dimension.'],
      ['map<string, ModelOptimizationPolicy.Cuda.GraphSpec.Shape> input', 2, 'Input → shape.'],
      ['ModelOptimizationPolicy.Cuda.GraphSpec.LowerBound graph_lower_bound', 3, 'Smallest shape that may use it.'],
    ],
  },
  'ModelOptimizationPolicy.Cuda.GraphSpec.Shape': {
    doc: 'A shape.',
    fields: [['repeated int64 dim', 1, 'Dimensions.', { quoted: true }]],
  },
  'ModelOptimizationPolicy.Cuda.GraphSpec.LowerBound': {
    doc: 'Smallest shape that may use a captured graph.',
    fields: [
      ['int32 batch_size', 1, 'Batch size.'],
      ['map<string, ModelOptimizationPolicy.Cuda.GraphSpec.Shape> input', 2, 'Input → shape.'],
    ],
  },
  'ModelOptimizationPolicy.ExecutionAccelerators': {
    doc: 'Execution providers, by device.',
    fields: [
      [
        'repeated ModelOptimizationPolicy.ExecutionAccelerators.Accelerator gpu_execution_accelerator',
        1,
        'For GPU instances: tensorrt, …',
      ],
      [
        'repeated ModelOptimizationPolicy.ExecutionAccelerators.Accelerator cpu_execution_accelerator',
        2,
        'For CPU instances: openvino, …',
      ],
    ],
  },
  'ModelOptimizationPolicy.ExecutionAccelerators.Accelerator': {
    doc: 'One execution provider.',
    fields: [
      ['string name', 1, 'Its name.'],
      ['map<string, string> parameters', 2, 'Its settings.'],
    ],
  },
  'ModelOptimizationPolicy.PinnedMemoryBuffer': {
    doc: 'Whether pinned memory is used.',
    fields: [['bool enable', 1, 'Default true.']],
  },
  ModelParameter: { doc: 'A setting.', fields: [['string string_value', 1, 'Its value, always text.']] },
  ModelOperations: {
    doc: 'Libraries with custom operators.',
    fields: [['repeated string op_library_filename', 1, 'Shared libraries to load.']],
  },
  ModelTransactionPolicy: {
    doc: 'How many answers a request has.',
    fields: [['bool decoupled', 1, 'Any number of answers, at any time; needs a streaming client.']],
  },
  ModelRepositoryAgents: {
    doc: 'Programs that treat the files before the load.',
    fields: [['repeated ModelRepositoryAgents.Agent agents', 1, 'Run in this order.']],
  },
  'ModelRepositoryAgents.Agent': {
    doc: 'One program.',
    fields: [
      ['string name', 1, 'Its name, as in checksum.'],
      ['map<string, string> parameters', 2, 'Its settings.'],
    ],
  },
  ModelResponseCache: {
    doc: 'Whether answers are cached.',
    fields: [['bool enable', 1, 'Needs --cache-config on the server.']],
  },
  ModelMetrics: {
    doc: 'Metrics of this model.',
    fields: [['repeated ModelMetrics.MetricControl metric_control', 1, 'Changes, one per family.']],
  },
  'ModelMetrics.MetricControl': {
    doc: 'One metric family.',
    fields: [
      ['ModelMetrics.MetricControl.MetricIdentifier metric_identifier', 1, 'Which family.'],
      ['ModelMetrics.MetricControl.HistogramOptions histogram_options', 2, 'Its buckets.', { oneof: 'metric_options' }],
    ],
  },
  'ModelMetrics.MetricControl.MetricIdentifier': {
    doc: 'Which family.',
    fields: [['string family', 1, 'Name, as in nv_inference_first_response_histogram_ms.']],
  },
  'ModelMetrics.MetricControl.HistogramOptions': {
    doc: 'Buckets of a histogram.',
    fields: [['repeated double buckets', 1, 'Upper bounds, rising.']],
  },
}
