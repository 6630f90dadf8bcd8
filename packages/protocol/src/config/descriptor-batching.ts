import type { MessageTable } from './descriptor-table.ts'

/** The three schedulers: messages by their name below `inference.`. */
export const BATCHING_MESSAGES: Readonly<Record<string, MessageTable>> = {
  ModelQueuePolicy: {
    doc: 'How long requests may wait and how many.',
    fields: [
      ['ModelQueuePolicy.TimeoutAction timeout_action', 1, 'What happens to a request that waited too long.'],
      ['uint64 default_timeout_microseconds', 2, 'Longest wait in µs; 0 = no limit.'],
      ['bool allow_timeout_override', 3, 'A request may ask for a shorter limit.'],
      ['uint32 max_queue_size', 4, 'Most waiting requests, more are refused; 0 = no limit.'],
    ],
  },
  ModelDynamicBatching: {
    doc: 'Requests that arrive close together run as one batch.',
    fields: [
      ['repeated int32 preferred_batch_size', 1, 'Sizes worth sending at once; default [max_batch_size].'],
      ['uint64 max_queue_delay_microseconds', 2, 'Longest wait for a preferred size, in µs.'],
      ['bool preserve_ordering', 3, 'Answers leave in the order in which requests came.'],
      ['uint64 priority_levels', 4, 'Number of levels, 1 is served first; 0 = no priorities.'],
      ['uint64 default_priority_level', 5, 'Level of requests that name none; 1 … priority_levels.'],
      ['ModelQueuePolicy default_queue_policy', 6, 'Limits of every level without its own.'],
      ['map<uint64, ModelQueuePolicy> priority_queue_policy', 7, 'Level → limits.'],
    ],
  },
  ModelSequenceBatching: {
    doc: 'All requests of one sequence go to the same instance and slot.',
    fields: [
      [
        'ModelSequenceBatching.StrategyDirect direct',
        3,
        'Each sequence owns a row of the batch.',
        { oneof: 'strategy_choice' },
      ],
      [
        'ModelSequenceBatching.StrategyOldest oldest',
        4,
        'Batches are made of the oldest requests.',
        { oneof: 'strategy_choice' },
      ],
      [
        'uint64 max_sequence_idle_microseconds',
        1,
        'A sequence without requests for so long is ended; default 1000000.',
      ],
      [
        'repeated ModelSequenceBatching.ControlInput control_input',
        2,
        'Tensors that tell the model about start, end, ready and id.',
      ],
      [
        'repeated ModelSequenceBatching.State state',
        5,
        'Tensors that the server keeps between requests of a sequence.',
      ],
      ['bool iterative_sequence', 6, 'The model may put a request back until it is done.'],
    ],
  },
  'ModelSequenceBatching.Control': {
    doc: 'One signal and how it is written. Exactly one of the …_false_true lists; for CORRID a data_type instead.',
    fields: [
      ['ModelSequenceBatching.Control.Kind kind', 1, 'Which signal.'],
      ['repeated int32 int32_false_true', 2, 'Two values: for false and for true.'],
      ['repeated float fp32_false_true', 3, 'Two values: for false and for true.'],
      ['repeated bool bool_false_true', 5, 'Two values: for false and for true.'],
      ['DataType data_type', 4, 'Type of the correlation id: UINT64, INT64, UINT32, INT32 or STRING.'],
    ],
  },
  'ModelSequenceBatching.ControlInput': {
    doc: 'One control tensor.',
    fields: [
      ['string name', 1, 'Name of the model input.'],
      ['repeated ModelSequenceBatching.Control control', 2, 'Its signals.'],
    ],
  },
  'ModelSequenceBatching.InitialState': {
    doc: 'What a state holds at the start of a sequence.',
    fields: [
      ['DataType data_type', 1, 'Type; must be that of the state.'],
      ['repeated int64 dims', 2, 'Shape without batch dimension; no -1.', { quoted: true }],
      ['bool zero_data', 3, 'All zero.', { oneof: 'state_data' }],
      ['string data_file', 4, 'Raw bytes in initial_state/<file> of the model.', { oneof: 'state_data' }],
      ['string name', 5, 'Name; required.'],
    ],
  },
  'ModelSequenceBatching.State': {
    doc: 'One tensor kept per sequence.',
    fields: [
      ['string input_name', 1, 'Model input that receives it.'],
      ['string output_name', 2, 'Model output that produces the next value.'],
      ['DataType data_type', 3, 'Type of its elements.'],
      ['repeated int64 dims', 4, 'Shape without batch dimension.'],
      ['repeated ModelSequenceBatching.InitialState initial_state', 5, 'At most one.'],
      ['bool use_same_buffer_for_input_output', 6, 'The model updates it in place.'],
      ['bool use_growable_memory', 7, 'Memory that grows without copies (GPU).'],
    ],
  },
  'ModelSequenceBatching.StrategyDirect': {
    doc: 'Each sequence owns a row of the batch while it lives.',
    fields: [
      ['uint64 max_queue_delay_microseconds', 1, 'Longest wait for other rows, in µs.'],
      ['float minimum_slot_utilization', 2, 'Share of rows that must be filled to run at once, 0 … 1.'],
    ],
  },
  'ModelSequenceBatching.StrategyOldest': {
    doc: 'Dynamic batches of the oldest requests, at most one per sequence.',
    fields: [
      ['int32 max_candidate_sequences', 1, 'Sequences served at the same time, per instance.'],
      ['repeated int32 preferred_batch_size', 2, 'Sizes worth sending at once; default [max_batch_size].'],
      ['uint64 max_queue_delay_microseconds', 3, 'Longest wait for a preferred size, in µs.'],
      ['bool preserve_ordering', 4, 'Answers leave in the order in which requests came.'],
    ],
  },
  ModelEnsembling: {
    doc: 'The model is a graph of other models.',
    fields: [
      ['repeated ModelEnsembling.Step step', 1, 'The models; their order does not matter, the tensors decide.'],
      ['uint32 max_inflight_requests', 2, 'Most unfinished requests of one step; 0 = no limit.', { newer: true }],
    ],
  },
  'ModelEnsembling.Step': {
    doc: 'One model of the ensemble.',
    fields: [
      ['string model_name', 1, 'Which model.'],
      ['int64 model_version', 2, 'Which version; -1 = newest.'],
      ['map<string, string> input_map', 3, 'Input of the model → tensor of the ensemble.'],
      ['map<string, string> output_map', 4, 'Output of the model → tensor of the ensemble.'],
      ['string model_namespace', 5, 'Reserved.'],
    ],
  },
}
