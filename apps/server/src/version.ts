/** Conch's own version. */
export const CONCH_VERSION = '0.1.0'

/** The release of the original whose protocol is spoken; clients read it in the server's metadata. */
export const PROTOCOL_VERSION = '2.73.0'

/** What the original advertises, in its order (reference: http §4.4). */
export const EXTENSIONS: readonly string[] = [
  'classification',
  'sequence',
  'model_repository',
  'model_repository(unload_dependents)',
  'schedule_policy',
  'model_configuration',
  'system_shared_memory',
  'cuda_shared_memory',
  'binary_tensor_data',
  'parameters',
  'statistics',
  'trace',
  'logging',
]
