/**
 * The messages of `inference.GRPCInferenceService` and `grpc.health.v1` (reference: gRPC §2.2, §2.3): name → fields in the words of a .proto,
 * `type name = number`, one a line. `inference.ModelConfig` and what it holds are the config's own tables.
 */
export const SERVICE_MESSAGES: Readonly<Record<string, string>> = {
  ServerLiveRequest: '',
  ServerLiveResponse: 'bool live = 1',
  ServerReadyRequest: '',
  ServerReadyResponse: 'bool ready = 1',
  ModelReadyRequest: 'string name = 1; string version = 2',
  ModelReadyResponse: 'bool ready = 1',
  ServerMetadataRequest: '',
  ServerMetadataResponse: 'string name = 1; string version = 2; repeated string extensions = 3',
  ModelMetadataRequest: 'string name = 1; string version = 2',
  ModelMetadataResponse: `string name = 1; repeated string versions = 2; string platform = 3;
    repeated ModelMetadataResponse.TensorMetadata inputs = 4; repeated ModelMetadataResponse.TensorMetadata outputs = 5`,
  'ModelMetadataResponse.TensorMetadata': 'string name = 1; string datatype = 2; repeated int64 shape = 3',
  InferParameter: `oneof parameter_choice: bool bool_param = 1; int64 int64_param = 2; string string_param = 3; double double_param = 4;
    uint64 uint64_param = 5`,
  InferTensorContents: `repeated bool bool_contents = 1; repeated int32 int_contents = 2; repeated int64 int64_contents = 3;
    repeated uint32 uint_contents = 4; repeated uint64 uint64_contents = 5; repeated float fp32_contents = 6;
    repeated double fp64_contents = 7; repeated bytes bytes_contents = 8`,
  ModelInferRequest: `string model_name = 1; string model_version = 2; string id = 3; map<string,InferParameter> parameters = 4;
    repeated ModelInferRequest.InferInputTensor inputs = 5; repeated ModelInferRequest.InferRequestedOutputTensor outputs = 6;
    repeated bytes raw_input_contents = 7`,
  'ModelInferRequest.InferInputTensor': `string name = 1; string datatype = 2; repeated int64 shape = 3;
    map<string,InferParameter> parameters = 4; InferTensorContents contents = 5`,
  'ModelInferRequest.InferRequestedOutputTensor': 'string name = 1; map<string,InferParameter> parameters = 2',
  ModelInferResponse: `string model_name = 1; string model_version = 2; string id = 3; map<string,InferParameter> parameters = 4;
    repeated ModelInferResponse.InferOutputTensor outputs = 5; repeated bytes raw_output_contents = 6`,
  'ModelInferResponse.InferOutputTensor': `string name = 1; string datatype = 2; repeated int64 shape = 3;
    map<string,InferParameter> parameters = 4; InferTensorContents contents = 5`,
  ModelStreamInferResponse: 'string error_message = 1; ModelInferResponse infer_response = 2',
  ModelConfigRequest: 'string name = 1; string version = 2',
  ModelConfigResponse: 'ModelConfig config = 1',
  ModelStatisticsRequest: 'string name = 1; string version = 2',
  StatisticDuration: 'uint64 count = 1; uint64 ns = 2',
  InferStatistics: `StatisticDuration success = 1; StatisticDuration fail = 2; StatisticDuration queue = 3; StatisticDuration compute_input = 4;
    StatisticDuration compute_infer = 5; StatisticDuration compute_output = 6; StatisticDuration cache_hit = 7; StatisticDuration cache_miss = 8`,
  InferResponseStatistics: `StatisticDuration compute_infer = 1; StatisticDuration compute_output = 2; StatisticDuration success = 3;
    StatisticDuration fail = 4; StatisticDuration empty_response = 5; StatisticDuration cancel = 6`,
  InferBatchStatistics: `uint64 batch_size = 1; StatisticDuration compute_input = 2; StatisticDuration compute_infer = 3;
    StatisticDuration compute_output = 4`,
  MemoryUsage: 'string type = 1; int64 id = 2; uint64 byte_size = 3',
  ModelStatistics: `string name = 1; string version = 2; uint64 last_inference = 3; uint64 inference_count = 4; uint64 execution_count = 5;
    InferStatistics inference_stats = 6; repeated InferBatchStatistics batch_stats = 7; repeated MemoryUsage memory_usage = 8;
    map<string,InferResponseStatistics> response_stats = 9`,
  ModelStatisticsResponse: 'repeated ModelStatistics model_stats = 1',
  ModelRepositoryParameter: `oneof parameter_choice: bool bool_param = 1; int64 int64_param = 2; string string_param = 3; bytes bytes_param = 4`,
  RepositoryIndexRequest: 'string repository_name = 1; bool ready = 2',
  RepositoryIndexResponse: 'repeated RepositoryIndexResponse.ModelIndex models = 1',
  'RepositoryIndexResponse.ModelIndex': 'string name = 1; string version = 2; string state = 3; string reason = 4',
  RepositoryModelLoadRequest:
    'string repository_name = 1; string model_name = 2; map<string,ModelRepositoryParameter> parameters = 3',
  RepositoryModelLoadResponse: '',
  RepositoryModelUnloadRequest:
    'string repository_name = 1; string model_name = 2; map<string,ModelRepositoryParameter> parameters = 3',
  RepositoryModelUnloadResponse: '',
  SystemSharedMemoryStatusRequest: 'string name = 1',
  SystemSharedMemoryStatusResponse: 'map<string,SystemSharedMemoryStatusResponse.RegionStatus> regions = 1',
  'SystemSharedMemoryStatusResponse.RegionStatus':
    'string name = 1; string key = 2; uint64 offset = 3; uint64 byte_size = 4',
  SystemSharedMemoryRegisterRequest: 'string name = 1; string key = 2; uint64 offset = 3; uint64 byte_size = 4',
  SystemSharedMemoryRegisterResponse: '',
  SystemSharedMemoryUnregisterRequest: 'string name = 1',
  SystemSharedMemoryUnregisterResponse: '',
  CudaSharedMemoryStatusRequest: 'string name = 1',
  CudaSharedMemoryStatusResponse: 'map<string,CudaSharedMemoryStatusResponse.RegionStatus> regions = 1',
  'CudaSharedMemoryStatusResponse.RegionStatus': 'string name = 1; uint64 device_id = 2; uint64 byte_size = 3',
  CudaSharedMemoryRegisterRequest: 'string name = 1; bytes raw_handle = 2; int64 device_id = 3; uint64 byte_size = 4',
  CudaSharedMemoryRegisterResponse: '',
  CudaSharedMemoryUnregisterRequest: 'string name = 1',
  CudaSharedMemoryUnregisterResponse: '',
  TraceSettingRequest: 'map<string,TraceSettingRequest.SettingValue> settings = 1; string model_name = 2',
  'TraceSettingRequest.SettingValue': 'repeated string value = 1',
  TraceSettingResponse: 'map<string,TraceSettingResponse.SettingValue> settings = 1',
  'TraceSettingResponse.SettingValue': 'repeated string value = 1',
  LogSettingsRequest: 'map<string,LogSettingsRequest.SettingValue> settings = 1',
  'LogSettingsRequest.SettingValue':
    'oneof parameter_choice: bool bool_param = 1; uint32 uint32_param = 2; string string_param = 3',
  LogSettingsResponse: 'map<string,LogSettingsResponse.SettingValue> settings = 1',
  'LogSettingsResponse.SettingValue':
    'oneof parameter_choice: bool bool_param = 1; uint32 uint32_param = 2; string string_param = 3',
  HealthCheckRequest: 'string service = 1',
  HealthCheckResponse: 'int32 status = 1',
}

/** One method: its messages, and whether both sides send any number of them. */
export type MethodRow = readonly [
  name: string,
  messages: { readonly request: string; readonly response: string },
  streaming: boolean,
]

/** Of `inference.GRPCInferenceService`, in the order of its .proto. */
export const INFERENCE_METHODS: readonly MethodRow[] = [
  ...['ServerLive', 'ServerReady', 'ModelReady', 'ServerMetadata', 'ModelMetadata', 'ModelInfer'].map(toRow),
  ['ModelStreamInfer', { request: 'ModelInferRequest', response: 'ModelStreamInferResponse' }, true],
  ...['ModelConfig', 'ModelStatistics', 'RepositoryIndex', 'RepositoryModelLoad', 'RepositoryModelUnload'].map(toRow),
  ...['Status', 'Register', 'Unregister'].map((what) => toRow(`SystemSharedMemory${what}`)),
  ...['Status', 'Register', 'Unregister'].map((what) => toRow(`CudaSharedMemory${what}`)),
  ...['TraceSetting', 'LogSettings'].map(toRow),
]

/** Of `grpc.health.v1.Health`. There is no Watch, as in the original. */
export const HEALTH_METHODS: readonly MethodRow[] = [
  ['Check', { request: 'HealthCheckRequest', response: 'HealthCheckResponse' }, false],
]

function toRow(name: string): MethodRow {
  return [name, { request: `${name}Request`, response: `${name}Response` }, false]
}
