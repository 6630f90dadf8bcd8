import { expect, it } from 'vitest'
import { readCommandLine, UsageError } from './command-line.ts'
import { SERVE_FLAGS } from './flags.ts'
import { parseServeOptions } from './options.ts'

const parse = (...args: string[]) => parseServeOptions(args, {})
const fault = (...args: string[]) => {
  try {
    parse(...args)
  } catch (error) {
    if (error instanceof UsageError) return `${error.flag}|${error.message}`
    throw error
  }
  return 'accepted'
}

it("has the original's defaults", () => {
  const options = parse()
  expect(options).toMatchObject({
    id: 'triton',
    exitTimeoutSeconds: 30,
    exitOnError: true,
    autoComplete: true,
    strictReadiness: true,
    controlMode: 'none',
    pollSeconds: 0,
    loadThreads: 4,
    http: { enabled: true, address: '0.0.0.0', port: 8000, maxInputSize: 67_108_864, threads: 8, corsOrigins: [] },
    grpc: { enabled: true, port: 8001 },
    metrics: { enabled: true, address: '0.0.0.0', port: 8002, intervalMs: 2000 },
  })
})

it('reads --flag=value, --flag value, prefixes and the spellings of booleans', () => {
  const options = parse(
    '--http-por=1',
    '--strict-readiness',
    '0',
    '--allow-metrics=TRUE',
    '--allow-cpu-metrics=off',
    '--exit-timeout=5',
  )
  expect(options.http.port).toBe(1)
  expect(options.strictReadiness).toBe(false)
  expect(options.metrics).toMatchObject({ enabled: true, cpu: false })
  expect(options.exitTimeoutSeconds).toBe(5)
})

it('takes repositories once each, sorted, from both flags', () => {
  expect(parse('--model-store=/b', '--model-repository=/a', '--model-repository', '/b').repositories).toEqual([
    '/a',
    '/b',
  ])
})

it.each([
  [['--nope'], "nope|unrecognized option '--nope'"],
  [['--http-portt=1'], "http-portt|unrecognized option '--http-portt'"],
  [['--http-port=abc'], 'http-port|Invalid option value. Got abc'],
  [['--http-port=99999999999'], 'http-port|Provided option value is out of bound. Got 99999999999'],
  [['--exit-on-error=maybe'], 'exit-on-error|invalid value for bool option: maybe'],
  [['--model-control-mode=sometimes'], 'model-control-mode|invalid argument for --model-control-mode'],
  [['--load-model=a'], "|Error: Use of '--load-model' requires setting '--model-control-mode=explicit' as well."],
  [['stray'], '|Unexpected argument: stray'],
  [
    ['--cache-config=local'],
    'cache-config|No cache specified. --cache-config option format is <cache name>,<setting>=<value>. Got local',
  ],
  [
    ['--cache-config=local,size=1', '--cache-config=redis,host=h'],
    'cache-config|found multiple cache configurations, but only a single cache is currently supported',
  ],
  [
    ['--cache-config=local,size=1', '--response-cache-byte-size=1'],
    'cache-config|Incompatible flags --response-cache-byte-size and --cache-config both provided.',
  ],
  [['--rate-limit=sometimes'], 'rate-limit|invalid argument for --rate-limit'],
  [
    ['--rate-limit-resource=R'],
    "rate-limit-resource|--rate-limit-resource option format is '<resource_name>:<count>:<device>'. Got R",
  ],
  [['--rate-limit-resource=R:1:gpu'], 'Got R:1:gpu'],
  [['--http-restricted-api=nothing:k=v'], "http-restricted-api|unknown restricted api 'nothing'"],
  [
    ['--http-restricted-api=health:k=v', '--http-restricted-api=health:k2=v2'],
    "http-restricted-api|restricted api 'health' can not be specified in multiple config groups",
  ],
  [['--http-max-input-size=0'], 'http-max-input-size|Error: --http-max-input-size must be greater than 0.'],
  [
    ['--disable-auto-complete-config=true'],
    "disable-auto-complete-config|option '--disable-auto-complete-config' doesn't allow an argument",
  ],
  [['--id'], "id|option '--id' requires an argument"],
])('refuses %j', (args, text) => {
  expect(fault(...args)).toContain(text)
})

it('refuses two services on one address and port, names both, and allows port 0 twice', () => {
  expect(fault('--http-port=9000', '--grpc-port=9000')).toBe(
    '|The server cannot listen to HTTP requests and GRPC requests at the same address and port 0.0.0.0:9000',
  )
  expect(fault('--http-port=0', '--grpc-port=0', '--metrics-port=0')).toBe('accepted')
  expect(fault('--http-port=9000', '--grpc-port=9000', '--allow-grpc=false')).toBe('accepted')
})

it('warns once about flags that change nothing, and not when they switch something off', () => {
  expect(parse('--cache-directory=/caches').notices).toHaveLength(1)
  expect(parse('--allow-client-shm=false', '--rate-limit=off').notices).toEqual([])
})

it('chooses a response cache', () => {
  expect(parse().cache).toBeUndefined()
  expect(parse('--cache-config=local,size=1048576').cache).toEqual({ name: 'local', settings: { size: '1048576' } })
  expect(parse('--response-cache-byte-size=1024').cache).toEqual({ name: 'local', settings: { size: '1024' } })
  expect(parse('--response-cache-byte-size=0').cache).toBeUndefined()
  const redis = ['--cache-config=redis,host=h', '--cache-config=redis,port=6379', '--cache-config=redis,user=me']
  const env = { TRITONCACHE_REDIS_USERNAME: 'other', TRITONCACHE_REDIS_PASSWORD: 'secret' }
  expect(parseServeOptions(redis, env).cache).toEqual({
    name: 'redis',
    settings: { host: 'h', port: '6379', user: 'me', password: 'secret' },
  })
})

it('limits rates', () => {
  expect(parse()).toMatchObject({ rateLimit: 'off', rateLimitResources: [] })
  const given = ['R:4', 'R:2', 'R:3', 'S:1:0', 'S:5:1'].map((text) => `--rate-limit-resource=${text}`)
  expect(parse('--rate-limit=EXECUTION_COUNT', ...given)).toMatchObject({
    rateLimit: 'execution_count',
    rateLimitResources: [
      { name: 'R', count: 2, device: undefined },
      { name: 'S', count: 1, device: 0 },
      { name: 'S', count: 5, device: 1 },
    ],
  })
})

it('restricts groups by header and value', () => {
  const { restricted } = parse('--http-restricted-api=health,metadata:key=a=b').http
  expect([...restricted.keys()]).toEqual(['health', 'metadata'])
  expect(restricted.get('health')).toEqual({ header: 'key', value: 'a=b' })
})

it('groups backend settings by backend, later ones winning', () => {
  expect(
    parse('--backend-config=onnxruntime,a=1', '--backend-config=b=2', '--backend-config=b=3').backendConfig,
  ).toEqual({
    onnxruntime: { a: '1' },
    '': { b: '3' },
  })
})

it('accepts the console flags under up only', () => {
  expect(parseServeOptions(['--console-port=1'], {}, 'up').console.port).toBe(1)
  const proxied = parseServeOptions(['--console-allowed-host=a.example', '--console-allowed-host=b.example'], {}, 'up')
  expect(proxied.console.allowedHosts).toEqual(['a.example', 'b.example'])
  expect(fault('--console-port=1')).toContain('unrecognized')
})

it('loads everything under up unless told how models are controlled', () => {
  const up = (...args: string[]) => {
    const { controlMode, startupModels, exitOnError } = parseServeOptions(args, {}, 'up')
    return [controlMode, startupModels, exitOnError]
  }
  expect(up()).toEqual(['explicit', ['*'], false])
  expect(up('--model-control-mode=poll')).toEqual(['poll', [], false])
  expect(up('--model-control-mode=explicit', '--load-model=a', '--exit-on-error=true')).toEqual([
    'explicit',
    ['a'],
    true,
  ])
  expect(up('--load-model=a')).toEqual(['explicit', ['a'], false])
  expect([parse().controlMode, parse().exitOnError]).toEqual(['none', true])
})

it('takes the repository and the ports of Vertex AI from the environment', () => {
  const options = parseServeOptions([], { AIP_MODE: 'PREDICTION', AIP_STORAGE_URI: '/models' })
  expect(options.repositories).toEqual(['/models'])
  expect(options.http.enabled).toBe(false)
})

it('reads every flag of the table', () => {
  for (const flag of SERVE_FLAGS) {
    const args = flag.kind === 'none' ? [`--${flag.name}`] : [`--${flag.name}`, '1']
    expect(readCommandLine(args, SERVE_FLAGS).get(flag.name)).toHaveLength(1)
  }
})
