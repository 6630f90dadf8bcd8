/** Every flag of `conch serve`: the original's (reference: cli), then Conch's own. Data only; options.ts gives it meaning. */
export type FlagKind = 'none' | 'bool' | 'int' | 'float' | 'text'

export interface Flag {
  readonly name: string
  readonly kind: FlagKind
  readonly group: string
  readonly help: string
  /** May be given several times; every value counts. */
  readonly repeated: boolean
  /** Why giving it changes nothing in this release; printed once as a warning. */
  readonly idle: string
}

type Row = readonly [name: string, kind: string, help: string, idle?: string]

const ONE_LOOP = 'one event loop serves all calls'
const NO_POOL = 'requests are not pooled'
const BACKLOG = 'answers that a client has not taken are bounded in bytes, 64 MiB a stream'
const GPU = 'this server has no GPU memory of its own to manage'
const PLUGIN = 'caches and agents are built in, not loaded from a directory'

const ROWS: Readonly<Record<string, readonly Row[]>> = {
  Server: [
    ['id', 'text', 'Name of this server in its metadata. Default: triton.'],
    ['exit-timeout-secs', 'int', 'Seconds that requests in flight get when the server ends. Default: 30.'],
  ],
  Logging: [
    ['log-verbose', 'int', 'Verbose level; 0 is off. Default: 0.'],
    ['log-info', 'bool', 'Log information. Default: true.'],
    ['log-warning', 'bool', 'Log warnings. Default: true.'],
    ['log-error', 'bool', 'Log errors. Default: true.'],
    ['log-format', 'text', '"default" (LMMDD hh:mm:ss.ssssss) or "ISO8601" (YYYY-MM-DDThh:mm:ssZ L).'],
    ['log-file', 'text', 'Append log lines to this file instead of the console.'],
  ],
  'Model Repository': [
    ['model-repository', 'text*', 'Directory that holds models. Repeatable. Required.'],
    ['model-store', 'text*', 'The same as --model-repository.'],
    ['exit-on-error', 'bool', 'End with code 1 when a startup model fails. Default: true.'],
    ['disable-auto-complete-config', 'none', 'Require complete model configurations.'],
    ['strict-readiness', 'bool', 'Ready only when every model is ready. Default: true.'],
    [
      'model-control-mode',
      'text',
      'none (load all at start), poll (follow changes) or explicit (load calls). Default: none.',
    ],
    ['repository-poll-secs', 'int', 'Seconds between polls in mode poll. Default: 15.'],
    ['load-model', 'text*', 'Model to load at start in mode explicit; "*" alone means all. Repeatable.'],
    ['model-config-name', 'text', 'Use configs/<name>.pbtxt of each model where it exists.'],
    ['model-load-thread-count', 'int', 'Models that load at the same time. Default: 4.'],
    ['model-load-retry-count', 'int', 'Further attempts for a version that fails to load. Default: 0.'],
    ['model-namespacing', 'bool', 'Allow the same model name in several repositories. Default: false.'],
    ['enable-peer-access', 'bool', 'GPU peer access. Default: true.', GPU],
  ],
  HTTP: [
    ['allow-http', 'bool', 'Listen for HTTP. Default: true.'],
    ['http-address', 'text', 'Address to listen on, or unix:<path>. Default: 0.0.0.0.'],
    ['http-port', 'int', 'Port to listen on. Default: 8000.'],
    ['reuse-http-port', 'bool', 'Share the port with other servers that set this too. Default: false.'],
    ['http-header-forward-pattern', 'text', 'Headers whose name matches this expression become request parameters.'],
    ['http-thread-count', 'int', 'Most threads that read and write large JSON bodies. Default: 8.'],
    ['http-max-input-size', 'int', 'Most bytes of JSON in a request. Default: 67108864.'],
    ['http-restricted-api', 'text*', '<apis>:<key>=<value>: these APIs need header <key> with <value>. Repeatable.'],
  ],
  GRPC: [
    ['allow-grpc', 'bool', 'Listen for gRPC. Default: true.'],
    ['grpc-address', 'text', 'Address to listen on, or unix:<path>. Default: 0.0.0.0.'],
    ['grpc-port', 'int', 'Port to listen on. Default: 8001.'],
    ['reuse-grpc-port', 'bool', 'Share the port with other servers that set this too. Default: false.'],
    ['grpc-header-forward-pattern', 'text', 'Metadata whose key matches becomes request parameters.'],
    ['grpc-infer-thread-count', 'int', 'Handler threads, 2 to 128. Default: 2.', ONE_LOOP],
    ['grpc-infer-allocation-pool-size', 'int', 'Request objects kept for reuse. Default: 8.', NO_POOL],
    ['grpc-max-response-pool-size', 'int', 'Responses of a request that wait to be sent.', BACKLOG],
    ['grpc-use-ssl', 'bool', 'Serve over TLS. Default: false.'],
    ['grpc-use-ssl-mutual', 'bool', 'Serve over TLS and ask clients for a certificate. Default: false.'],
    ['grpc-server-cert', 'text', 'PEM certificate of the server.'],
    ['grpc-server-key', 'text', 'PEM key of the server.'],
    ['grpc-root-cert', 'text', 'PEM root certificate for clients.'],
    ['grpc-infer-response-compression-level', 'text', 'none, low, medium or high. Default: none.'],
    ['grpc-keepalive-time', 'int', 'Milliseconds between keep-alive pings. Default: 7200000.'],
    ['grpc-keepalive-timeout', 'int', 'Milliseconds to wait for a ping answer. Default: 20000.'],
    ['grpc-keepalive-permit-without-calls', 'bool', 'Allow pings when no call is open. Default: false.'],
    ['grpc-http2-max-pings-without-data', 'int', 'Pings without data; 0 is no limit. Default: 2.'],
    ['grpc-http2-min-recv-ping-interval-without-data', 'int', 'Least milliseconds between pings. Default: 300000.'],
    ['grpc-http2-max-ping-strikes', 'int', 'Bad pings before the connection ends. Default: 2.'],
    ['grpc-max-connection-age', 'int', 'Most milliseconds a connection may live.'],
    ['grpc-max-connection-age-grace', 'int', 'Grace after that age, in milliseconds.'],
    ['grpc-restricted-protocol', 'text*', '<protocols>:<key>=<value>, as --http-restricted-api. Repeatable.'],
  ],
  SageMaker: [
    ['allow-sagemaker', 'bool', 'Listen for SageMaker. Default: false.'],
    ['sagemaker-address', 'text', 'Address to listen on. Default: 0.0.0.0.'],
    ['sagemaker-port', 'int', 'Port to listen on. Default: 8080.'],
    ['sagemaker-safe-port-range', 'text', '<lo>-<hi>: where other ports must lie.'],
    ['sagemaker-thread-count', 'int', 'Handler threads. Default: 8.', ONE_LOOP],
    [
      'sagemaker-models-root',
      'text',
      'Models are loaded by URL from below this directory only. Default: /opt/ml/models.',
    ],
  ],
  'Vertex AI': [
    ['allow-vertex-ai', 'bool', 'Listen for Vertex AI. Default: true when AIP_MODE=PREDICTION.'],
    ['vertex-ai-address', 'text', 'Address to listen on. Default: 0.0.0.0.'],
    ['vertex-ai-port', 'int', 'Port to listen on. Default: AIP_HTTP_PORT or 8080.'],
    ['vertex-ai-thread-count', 'int', 'Handler threads. Default: 8.', ONE_LOOP],
    ['vertex-ai-default-model', 'text', 'Model of single-model requests.'],
  ],
  Metrics: [
    ['allow-metrics', 'bool', 'Listen for Prometheus. Default: true.'],
    ['allow-gpu-metrics', 'bool', 'Collect GPU metrics. Default: true.'],
    ['allow-cpu-metrics', 'bool', 'Collect CPU metrics. Default: true.'],
    ['metrics-address', 'text', 'Address to listen on. Default: that of HTTP.'],
    ['metrics-port', 'int', 'Port to listen on. Default: 8002.'],
    ['metrics-interval-ms', 'float', 'Milliseconds between collections. Default: 2000.'],
    ['metrics-config', 'text*', '<setting>=<value>, e.g. summary_latencies=true. Repeatable.'],
  ],
  Tracing: [['trace-config', 'text*', '<mode>,<setting>=<value> or <setting>=<value>. Repeatable.']],
  Backend: [
    [
      'backend-directory',
      'text',
      'Where custom backends are: <directory>/<name>/backend.{ts,js,mjs}. Default: /opt/tritonserver/backends.',
    ],
    ['backend-config', 'text*', '<backend>,<setting>=<value> or <setting>=<value>. Repeatable.'],
  ],
  'Repository Agent': [['repoagent-directory', 'text', 'Accepted for compatibility.', PLUGIN]],
  'Response Cache': [
    [
      'cache-config',
      'text*',
      '<cache>,<setting>=<value>, e.g. local,size=1048576 or redis,host=localhost. Repeatable.',
    ],
    ['cache-directory', 'text', 'Accepted for compatibility.', PLUGIN],
  ],
  'Rate Limiter': [
    ['rate-limit', 'text', 'execution_count or off. Default: off.'],
    ['rate-limit-resource', 'text*', '<name>:<count>[:<device>]. Repeatable.'],
  ],
  'Memory and Devices': [
    ['pinned-memory-pool-byte-size', 'int', 'Pinned memory pool. Default: 268435456.', GPU],
    ['cuda-memory-pool-byte-size', 'text*', '<gpu>:<bytes>. Repeatable.', GPU],
    ['cuda-virtual-address-size', 'text*', '<gpu>:<bytes>. Repeatable.', GPU],
    ['min-supported-compute-capability', 'float', 'Least compute capability of a GPU.', GPU],
    ['buffer-manager-thread-count', 'int', 'Copy threads. Default: 0.', 'tensors are handed over without copies'],
    ['host-policy', 'text*', '<policy>,<setting>=<value>. Repeatable.', 'host policies come with a later release'],
    ['model-load-gpu-limit', 'text*', '<gpu>:<fraction>. Repeatable.', GPU],
  ],
  'Shared Memory': [['allow-client-shm', 'bool', 'Let clients register shared memory. Default: false.']],
  Deprecated: [
    ['strict-model-config', 'bool', 'Use --disable-auto-complete-config.'],
    ['response-cache-byte-size', 'int', 'Use --cache-config=local,size=<bytes>.'],
    ['trace-file', 'text', 'Use --trace-config=triton,file=<path>.'],
    ['trace-level', 'text*', 'Use --trace-config=level=<level>.'],
    ['trace-rate', 'int', 'Use --trace-config=rate=<n>.'],
    ['trace-count', 'int', 'Use --trace-config=count=<n>.'],
    ['trace-log-frequency', 'int', 'Use --trace-config=triton,log-frequency=<n>.'],
  ],
  'Beyond the original': [
    [
      'http-body-memory',
      'int',
      'Most bytes that all requests in flight over HTTP and gRPC, and gRPC answers that wait, take together; more get 503. Default: half of the memory.',
    ],
    ['http-cors-origin', 'text*', 'Web origin that may call the HTTP port from a browser; "*" means any. Repeatable.'],
    [
      'grpc-reflection',
      'bool',
      'Tell gRPC clients, such as grpcurl, which services and messages there are. Default: false; true with the console.',
    ],
    ['http-use-ssl', 'bool', 'Serve HTTP over TLS. Default: false.'],
    ['http-use-ssl-mutual', 'bool', 'Serve HTTP over TLS and ask clients for a certificate. Default: false.'],
    ['http-server-cert', 'text', 'PEM certificate of the HTTP port.'],
    ['http-server-key', 'text', 'PEM key of the HTTP port.'],
    ['http-root-cert', 'text', 'PEM root certificate that clients of the HTTP port must come from.'],
    [
      'access-log',
      'text',
      'One line per inference in the log: "off", "text" or "json" (lines of JSON without a prefix). Default: off.',
    ],
    [
      'http-client-errors',
      'text',
      'Status of malformed JSON: "recorded" (500, as the original) or "400". Default: recorded.',
    ],
  ],
}

const CONSOLE_ROWS: readonly Row[] = [
  ['console-port', 'int', 'Port of the console. Default: 8080.'],
  ['console-address', 'text', 'Address of the console. Default: 127.0.0.1.'],
  ['data-dir', 'text', 'Where the console keeps its database and uploads. Default: .conch.'],
  [
    'console-allowed-host',
    'text*',
    'Host name under which a proxy in front shows the console; "*" means any. Repeatable.',
  ],
]

export const SERVE_FLAGS: readonly Flag[] = Object.entries(ROWS).flatMap(([group, rows]) =>
  rows.map((row) => makeFlag(group, row)),
)
export const UP_FLAGS: readonly Flag[] = [...SERVE_FLAGS, ...CONSOLE_ROWS.map((row) => makeFlag('Console', row))]

function makeFlag(group: string, [name, kind, help, idle]: Row): Flag {
  const repeated = kind.endsWith('*')
  return { name, kind: (repeated ? kind.slice(0, -1) : kind) as FlagKind, group, help, repeated, idle: idle ?? '' }
}

/** The option list as `--help` prints it. */
export function formatFlags(flags: readonly Flag[]): string {
  const lines: string[] = []
  let group = ''
  for (const flag of flags) {
    if (flag.group !== group) lines.push('', `${flag.group}:`)
    group = flag.group
    const value =
      flag.kind === 'none' ? '' : ` <${flag.kind === 'bool' ? 'boolean' : flag.kind === 'int' ? 'integer' : flag.kind}>`
    lines.push(`  --${flag.name}${value}`, `\t${flag.help}`)
  }
  return lines.join('\n')
}
