import type { MessageTable } from './descriptor-table.ts'

/** Tensors, instances, warm-up: messages by their name below `inference.`. */
export const TENSOR_MESSAGES: Readonly<Record<string, MessageTable>> = {
  ModelInput: {
    doc: 'One input of the model. With max_batch_size > 0 the batch dimension is implied and not part of dims.',
    fields: [
      ['string name', 1, 'Name of the tensor, as in the model file.'],
      ['DataType data_type', 2, 'Type of its elements.'],
      ['ModelInput.Format format', 3, 'Image layout; needs 3 dims. Informational.'],
      ['repeated int64 dims', 4, 'Shape without the batch dimension; -1 = any size, 0 is not allowed.'],
      ['ModelTensorReshape reshape', 5, 'Shape that the backend sees instead of dims; same number of elements.'],
      ['bool is_shape_tensor', 6, 'The tensor holds a shape (TensorRT only).'],
      ['bool allow_ragged_batch', 7, 'Requests with different shapes may share a batch; the model gets them flat.'],
      ['bool optional', 8, 'Requests may leave this input out.'],
      ['bool is_non_linear_format_io', 9, 'Uses a vectorised memory layout (TensorRT only).'],
    ],
  },
  ModelOutput: {
    doc: 'One output of the model. With max_batch_size > 0 the batch dimension is implied and not part of dims.',
    fields: [
      ['string name', 1, 'Name of the tensor, as in the model file.'],
      ['DataType data_type', 2, 'Type of its elements.'],
      ['repeated int64 dims', 3, 'Shape without the batch dimension; -1 = any size, 0 is not allowed.'],
      ['ModelTensorReshape reshape', 5, 'Shape that the backend produces; answers carry dims.'],
      ['string label_filename', 4, 'File with one class name a line, relative to the model directory.'],
      ['bool is_shape_tensor', 6, 'The tensor holds a shape (TensorRT only).'],
      ['bool is_non_linear_format_io', 7, 'Uses a vectorised memory layout (TensorRT only).'],
    ],
  },
  ModelTensorReshape: {
    doc: 'Another shape for the same elements.',
    fields: [['repeated int64 shape', 1, 'The shape; empty = one scalar per item.']],
  },
  BatchInput: {
    doc: 'A tensor that the server makes from all requests of a batch.',
    fields: [
      ['BatchInput.Kind kind', 1, 'What the tensor holds.'],
      ['repeated string target_name', 2, 'Model inputs that receive it.'],
      ['DataType data_type', 3, 'TYPE_INT32 or TYPE_FP32.'],
      ['repeated string source_input', 4, 'The one input that is measured.'],
    ],
  },
  BatchOutput: {
    doc: 'How an output of a ragged batch is handed back to the requests.',
    fields: [
      ['repeated string target_name', 1, 'Model outputs that are cut.'],
      ['BatchOutput.Kind kind', 2, 'How they are cut.'],
      ['repeated string source_input', 3, 'The one input whose shapes decide.'],
    ],
  },
  ModelRateLimiter: {
    doc: 'Resources that an instance needs before it may run.',
    fields: [
      ['repeated ModelRateLimiter.Resource resources', 1, 'The resources.'],
      ['uint32 priority', 2, 'Larger = fewer turns; 0 counts as 1.'],
    ],
  },
  'ModelRateLimiter.Resource': {
    doc: 'Some copies of one resource.',
    fields: [
      ['string name', 1, 'Name of the resource.'],
      ['bool global', 2, 'Counted once for the server instead of once per device.'],
      ['uint32 count', 3, 'How many copies a run takes.'],
    ],
  },
  ModelInstanceGroup: {
    doc: 'Copies of the model that run in parallel.',
    fields: [
      ['string name', 1, 'Name of the group; <model>_<index> when not given.'],
      ['ModelInstanceGroup.Kind kind', 4, 'Where the instances run.'],
      ['int32 count', 2, 'Instances; on GPUs: for each GPU.'],
      ['ModelRateLimiter rate_limiter', 6, 'Resources needed to run, with --rate-limit=execution_count.'],
      ['repeated int32 gpus', 3, 'GPU ids; none = all that are visible.'],
      ['repeated ModelInstanceGroup.SecondaryDevice secondary_devices', 8, 'Further devices (TensorRT).'],
      ['repeated string profile', 5, 'Optimisation profiles (TensorRT only).'],
      ['bool passive', 7, 'Loaded, but receives no requests.'],
      ['string host_policy', 9, 'Name of a --host-policy; default cpu, gpu_<id> or model.'],
    ],
  },
  'ModelInstanceGroup.SecondaryDevice': {
    doc: 'A further device of an instance.',
    fields: [
      ['ModelInstanceGroup.SecondaryDevice.SecondaryDeviceKind kind', 1, 'Its kind.'],
      ['int64 device_id', 2, 'Its id.', { big: true, quoted: true }],
    ],
  },
  ModelWarmup: {
    doc: 'A request that every instance runs before the model is ready.',
    fields: [
      ['string name', 1, 'Name shown in errors.'],
      ['uint32 batch_size', 2, 'Rows of the request; 0 = the sample is skipped, 1 for a model that does not batch.'],
      ['map<string, ModelWarmup.Input> inputs', 3, 'Input name → data. Every input must be there.'],
      ['uint32 count', 4, 'How often it runs; 0 counts as 1.'],
    ],
  },
  'ModelWarmup.Input': {
    doc: 'The data of one warm-up input; exactly one of zero_data, random_data, input_data_file.',
    fields: [
      ['DataType data_type', 1, 'Type of its elements.'],
      ['repeated int64 dims', 2, 'Shape without the batch dimension; no -1.'],
      ['bool zero_data', 3, 'All zero; empty strings.', { oneof: 'input_data_type' }],
      ['bool random_data', 4, 'Random values.', { oneof: 'input_data_type' }],
      [
        'string input_data_file',
        5,
        'Raw little-endian bytes in warmup/<file> of the model.',
        { oneof: 'input_data_type' },
      ],
    ],
  },
}
