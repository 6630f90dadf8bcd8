// npm run bench:peer -- --peer=COMMAND --perf-analyzer=PATH [--repository=DIR] [--rows='NAME;NAME'] [--window=2000] [--rounds=3]
// Conch beside another KServe v2 server on this machine in this run: both serve one repository of Python and ONNX models, the same client
// asks them in turns, and CPU is that of the server and all its children. Paths of what is not in this repository are given by hand:
//   COMMAND  starts the peer and takes tritonserver's flags (for the original: its package's start script)
//   PATH     the peer's own load generator, perf_analyzer
// A row whose model the peer cannot load (no native backend) shows Conch alone. Numbers are for reading, none is a gate.
import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { env, root, SetupError } from './setup.mjs'

const options = Object.fromEntries(
  process.argv.slice(2).map((arg) => /^--([a-z-]+)=(.*)$/s.exec(arg)?.slice(1) ?? [arg, '']),
)
const { peer = '', 'perf-analyzer': analyzer = '', rows: words = '', window = '2000', rounds = '3' } = options
if (analyzer === '' || !existsSync(analyzer))
  throw new SetupError('Give the load generator: npm run bench:peer -- --perf-analyzer=PATH')

const PYTHON_CONFIG = `backend: "python" max_batch_size: 8
input [ { name: "INPUT0" data_type: TYPE_FP32 dims: [ 16 ] }, { name: "INPUT1" data_type: TYPE_FP32 dims: [ 16 ] } ]
output [ { name: "OUTPUT0" data_type: TYPE_FP32 dims: [ 16 ] }, { name: "OUTPUT1" data_type: TYPE_FP32 dims: [ 16 ] } ]
instance_group [ { kind: KIND_CPU count: 1 } ]
`
const PYTHON_MODEL = `import triton_python_backend_utils as pb_utils

class TritonPythonModel:
    def execute(self, requests):
        answers = []
        for request in requests:
            a = pb_utils.get_input_tensor_by_name(request, "INPUT0").as_numpy()
            b = pb_utils.get_input_tensor_by_name(request, "INPUT1").as_numpy()
            answers.append(pb_utils.InferenceResponse([pb_utils.Tensor("OUTPUT0", a + b), pb_utils.Tensor("OUTPUT1", a - b)]))
        return answers
`
const BIG_CONFIG = `backend: "python" max_batch_size: 0
input [ { name: "IN" data_type: TYPE_FP32 dims: [ -1 ] } ]
output [ { name: "OUT" data_type: TYPE_FP32 dims: [ -1 ] } ]
instance_group [ { kind: KIND_CPU count: 1 } ]
`
const BIG_MODEL = `import triton_python_backend_utils as pb_utils

class TritonPythonModel:
    def execute(self, requests):
        return [pb_utils.InferenceResponse([pb_utils.Tensor("OUT", pb_utils.get_input_tensor_by_name(r, "IN").as_numpy())]) for r in requests]
`

/** name, model, arguments of the load generator */
const ROWS = [
  ...[1, 8, 32].map((n) => [`python add/sub, HTTP, ${n}`, 'py_add_sub', ['-i', 'http', '--concurrency-range', `${n}`]]),
  ...[1, 8, 32].map((n) => [`python add/sub, gRPC, ${n}`, 'py_add_sub', ['-i', 'grpc', '--concurrency-range', `${n}`]]),
  ['python 5 MB, HTTP, 1', 'py_big', ['-i', 'http', '--shape', 'IN:1250000', '--concurrency-range', '1']],
  ['python 5 MB, gRPC, 1', 'py_big', ['-i', 'grpc', '--shape', 'IN:1250000', '--concurrency-range', '1']],
  ...[1, 8, 32].map((n) => [`ONNX add/sub, HTTP, ${n}`, 'add_sub', ['-i', 'http', '--concurrency-range', `${n}`]]),
  ...[1, 8, 32].map((n) => [`ONNX add/sub, gRPC, ${n}`, 'add_sub', ['-i', 'grpc', '--concurrency-range', `${n}`]]),
].filter(([name]) => words.split(';').some((word) => name.includes(word)))

function makeRepository() {
  const directory = mkdtempSync(path.join(tmpdir(), 'conch-peer-'))
  cpSync(path.join(root, 'examples', 'models', 'add_sub'), path.join(directory, 'add_sub'), { recursive: true })
  for (const [name, config, model] of [
    ['py_add_sub', PYTHON_CONFIG, PYTHON_MODEL],
    ['py_big', BIG_CONFIG, BIG_MODEL],
  ]) {
    mkdirSync(path.join(directory, name, '1'), { recursive: true })
    writeFileSync(path.join(directory, name, 'config.pbtxt'), config)
    writeFileSync(path.join(directory, name, '1', 'model.py'), model)
  }
  return directory
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}

async function startServer(command, repository) {
  const [http, grpc, metrics] = [await freePort(), await freePort(), await freePort()]
  const flags = Object.entries({
    'model-repository': repository,
    'http-port': http,
    'grpc-port': grpc,
    'metrics-port': metrics,
  })
  const all = [
    ...flags.map(([flag, value]) => `--${flag}=${value}`),
    '--http-address=127.0.0.1',
    '--grpc-address=127.0.0.1',
    '--exit-on-error=false',
  ]
  const child = spawn(command.split(' ')[0], [...command.split(' ').slice(1), ...all, '--strict-readiness=false'], {
    env,
    stdio: 'ignore',
  })
  const end = Date.now() + 60_000
  for (;;) {
    const ready = await fetch(`http://127.0.0.1:${http}/v2/health/ready`).then(
      (r) => r.ok,
      () => false,
    )
    if (ready) break
    if (Date.now() > end || child.exitCode !== null) throw new SetupError(`${command} did not become ready`)
    await wait(200)
  }
  const has = async (model) =>
    fetch(`http://127.0.0.1:${http}/v2/models/${model}/ready`).then(
      (r) => r.ok,
      () => false,
    )
  return { child, has, addresses: { http: `127.0.0.1:${http}`, grpc: `127.0.0.1:${grpc}` } }
}

/** A process and all that came from it. */
function family(pid) {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        return [[Number(name), Number(readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').at(-1).split(' ')[1])]]
      } catch {
        return []
      }
    })
  const found = [pid]
  for (let i = 0; i < found.length; i += 1)
    found.push(...parents.filter(([, parent]) => parent === found[i]).map(([child]) => child))
  return found
}

/** µs of CPU. */
function cpuOf(pid) {
  let ticks = 0
  for (const one of family(pid)) {
    const fields = readFileSync(`/proc/${one}/stat`, 'utf8').split(') ').at(-1).split(' ')
    ticks += Number(fields[11]) + Number(fields[12])
  }
  return ticks * 10_000
}

function count(address, model) {
  return fetch(`http://${address}/v2/models/${model}/stats`)
    .then((r) => r.json())
    .then((body) => body.model_stats[0].inference_count)
}

function load(server, model, args) {
  const kind = args[1]
  return new Promise((resolve) => {
    const all = ['-m', model, '-u', server.addresses[kind], '-p', window, '-s', '999', '-r', '3', ...args]
    const child = spawn(analyzer, all, { stdio: ['ignore', 'pipe', 'ignore'] })
    let text = ''
    child.stdout.on('data', (chunk) => (text += chunk))
    child.on('exit', () => resolve(text))
  })
}

async function measure(server, model, args) {
  const [cpu, before] = [cpuOf(server.child.pid), await count(server.addresses.http, model)]
  const text = await load(server, model, args)
  const [used, asked] = [cpuOf(server.child.pid) - cpu, (await count(server.addresses.http, model)) - before]
  const number = (pattern) => Number(pattern.exec(text)?.[1] ?? Number.NaN)
  return {
    rate: number(/Throughput: ([\d.]+) infer/),
    p50: number(/p50 latency: (\d+)/),
    p99: number(/p99 latency: (\d+)/),
    cpu: used / asked,
  }
}

async function takeTurns(servers, model, args) {
  const runs = servers.map(() => [])
  for (let round = 0; round < Number(rounds); round += 1) {
    for (const [i, server] of servers.entries()) runs[i].push(await measure(server, model, args))
  }
  return runs
}

const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)]
const summarise = (runs) =>
  Object.fromEntries(['rate', 'p50', 'p99', 'cpu'].map((key) => [key, Math.round(median(runs.map((run) => run[key])))]))

const repository = options.repository ?? makeRepository()
const conch = await startServer(path.join(root, 'bin', 'conch') + ' serve', repository)
const other = peer === '' ? undefined : await startServer(peer, repository)
const table = [
  ['', 'Conch infer/s', 'p50', 'p99 µs', 'CPU µs', 'peer infer/s', 'p50', 'p99 µs', 'CPU µs', 'rate', 'CPU'],
]
try {
  for (const [name, model, args] of ROWS) {
    const pair = [conch, ...(other !== undefined && (await other.has(model)) ? [other] : [])]
    const [ours, theirs] = (await takeTurns(pair, model, args)).map(summarise)
    const show = (one) => (one === undefined ? ['', '', '', ''] : [one.rate, one.p50, one.p99, one.cpu].map(String))
    const ratios =
      theirs === undefined ? ['', ''] : [(ours.rate / theirs.rate).toFixed(2), (ours.cpu / theirs.cpu).toFixed(2)]
    table.push([name, ...show(ours), ...show(theirs), ...ratios])
    process.stdout.write(`${table.at(-1).join(' | ')}\n`)
  }
} finally {
  for (const server of [conch, other]) server?.child.kill('SIGTERM')
  if (options.repository === undefined) rmSync(repository, { recursive: true })
}
const widths = table[0].map((_, column) => Math.max(...table.map((row) => row[column].length)))
process.stdout.write(`\n${table.map((row) => row.map((cell, i) => cell.padEnd(widths[i])).join('  ')).join('\n')}\n`)
