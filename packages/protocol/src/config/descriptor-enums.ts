type EnumRow = readonly [name: string, number: number, doc: string]

/** Every enumeration of the configuration, by its name below `inference.`. */
export const ENUMS: Readonly<Record<string, readonly EnumRow[]>> = {
  DataType: [
    ['TYPE_INVALID', 0, 'Not set.'],
    ['TYPE_BOOL', 1, 'One byte an element, 0 or 1; BOOL on the wire.'],
    ['TYPE_UINT8', 2, 'Unsigned, 1 byte.'],
    ['TYPE_UINT16', 3, 'Unsigned, 2 bytes.'],
    ['TYPE_UINT32', 4, 'Unsigned, 4 bytes.'],
    ['TYPE_UINT64', 5, 'Unsigned, 8 bytes.'],
    ['TYPE_INT8', 6, 'Signed, 1 byte.'],
    ['TYPE_INT16', 7, 'Signed, 2 bytes.'],
    ['TYPE_INT32', 8, 'Signed, 4 bytes.'],
    ['TYPE_INT64', 9, 'Signed, 8 bytes.'],
    ['TYPE_FP16', 10, 'Half precision, 2 bytes.'],
    ['TYPE_FP32', 11, 'Single precision, 4 bytes (float32).'],
    ['TYPE_FP64', 12, 'Double precision, 8 bytes (float64).'],
    ['TYPE_STRING', 13, 'Byte strings of any length; BYTES on the wire.'],
    ['TYPE_BF16', 14, 'bfloat16, 2 bytes.'],
  ],
  'ModelInput.Format': [
    ['FORMAT_NONE', 0, 'No image layout.'],
    ['FORMAT_NHWC', 1, 'Height, width, channels: dims must have 3 entries.'],
    ['FORMAT_NCHW', 2, 'Channels, height, width: dims must have 3 entries.'],
  ],
  'BatchInput.Kind': [
    ['BATCH_ELEMENT_COUNT', 0, 'One value a request: how many elements its source has.'],
    ['BATCH_ACCUMULATED_ELEMENT_COUNT', 1, 'Running sum of the element counts.'],
    ['BATCH_ACCUMULATED_ELEMENT_COUNT_WITH_ZERO', 2, 'Running sum of the element counts, a 0 first.'],
    ['BATCH_MAX_ELEMENT_COUNT_AS_SHAPE', 3, 'The largest element count, given as the shape.'],
    ['BATCH_ITEM_SHAPE', 4, 'The shape of every item: [batch, dims].'],
    ['BATCH_ITEM_SHAPE_FLATTEN', 5, 'The shape of every item, flat.'],
  ],
  'BatchOutput.Kind': [
    ['BATCH_SCATTER_WITH_INPUT_SHAPE', 0, 'The flat output is cut by the shapes of the source input.'],
  ],
  'ModelInstanceGroup.Kind': [
    ['KIND_AUTO', 0, 'GPU where there is one, else CPU.'],
    ['KIND_GPU', 1, 'Instances on GPUs: count for each of them.'],
    ['KIND_CPU', 2, 'Instances on the CPU.'],
    ['KIND_MODEL', 3, 'The model or its backend decides where it runs.'],
  ],
  'ModelInstanceGroup.SecondaryDevice.SecondaryDeviceKind': [['KIND_NVDLA', 0, 'A deep learning accelerator core.']],
  'ModelOptimizationPolicy.ModelPriority': [
    ['PRIORITY_DEFAULT', 0, 'As other models.'],
    ['PRIORITY_MAX', 1, 'Before other models.'],
    ['PRIORITY_MIN', 2, 'After other models.'],
  ],
  'ModelQueuePolicy.TimeoutAction': [
    ['REJECT', 0, 'A request that waited too long is refused.'],
    ['DELAY', 1, 'A request that waited too long is served when nothing else waits.'],
  ],
  'ModelSequenceBatching.Control.Kind': [
    ['CONTROL_SEQUENCE_START', 0, 'Tells whether a row starts a sequence.'],
    ['CONTROL_SEQUENCE_READY', 1, 'Tells whether a row holds a request.'],
    ['CONTROL_SEQUENCE_END', 2, 'Tells whether a row ends a sequence.'],
    ['CONTROL_SEQUENCE_CORRID', 3, 'The correlation id of the sequence.'],
  ],
}
