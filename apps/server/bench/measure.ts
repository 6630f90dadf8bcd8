import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'

const HERE = import.meta.dirname
const CONCH = path.join(HERE, '../../../bin/conch')
/** Microseconds of one tick in /proc/PID/stat. */
const TICK = 10_000

export interface Running {
  readonly process: ChildProcess
  readonly pid: number
  readonly port: number
  readonly metricsPort: number
  /** Milliseconds from spawn until the HTTP port was there. */
  readonly readyAfter: number
  stop(): Promise<void>
}

/** Starts `conch serve` on free loopback ports and waits until it serves. */
export function startConch(repository: string, ...flags: string[]): Promise<Running> {
  return startWith({}, repository, flags)
}

/** As `startConch`, with an eye on its event loop: see `readPause`. */
export function startWatched(repository: string, ...flags: string[]): Promise<Running> {
  return startWith({ NODE_OPTIONS: `--import=${path.join(HERE, 'watch-loop.ts')}` }, repository, flags)
}

function startWith(env: Record<string, string>, repository: string, flags: readonly string[]): Promise<Running> {
  const args = [
    'serve',
    `--model-repository=${repository}`,
    '--http-address=127.0.0.1',
    '--http-port=0',
    '--metrics-port=0',
  ]
  const findPorts = (output: string) => {
    const http = /Started HTTPService at [^:]+:(\d+)/.exec(output)
    const metrics = /Started Metrics Service at [^:]+:(\d+)/.exec(output)
    return http && metrics ? [Number(http[1]), Number(metrics[1])] : undefined
  }
  return start([CONCH, ...args, '--allow-grpc=false', ...flags], findPorts, env)
}

/** The longest time, in ms, that a watched server's event loop stood still since this was last asked. */
export function readPause(server: Running): Promise<{ longest: number; own: number }> {
  return new Promise((resolve) => {
    const read = (chunk: Buffer) => {
      const line = /^PAUSE (.*)$/m.exec(chunk.toString())
      if (line === null) return
      server.process.stdout?.off('data', read)
      resolve(JSON.parse(line[1] ?? '') as { longest: number; own: number })
    }
    server.process.stdout?.on('data', read)
    server.process.kill('SIGUSR2')
  })
}

/** Starts the bare echo server; `replyBytes` = −1 gives the body back. */
export function startEcho(replyBytes = -1): Promise<Running> {
  const env = replyBytes < 0 ? {} : { REPLY_BYTES: String(replyBytes) }
  const findPort = (output: string) => (output.includes('\n') ? [Number(output), 0] : undefined)
  return start([process.execPath, path.join(HERE, 'echo.ts')], findPort, env)
}

/** Milliseconds that Node itself takes until it runs the first line of a script. */
export function measureNodeStart(): Promise<number> {
  return new Promise((resolve, reject) => {
    const began = performance.now()
    const child = spawn(process.execPath, ['-e', 'process.stdout.write("up")'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    child.stdout.once('data', () => resolve(performance.now() - began))
    child.on('error', reject)
  })
}

function start(
  [command = '', ...args]: readonly string[],
  ready: (output: string) => readonly number[] | undefined,
  env: Record<string, string>,
): Promise<Running> {
  return new Promise((resolve, reject) => {
    const began = performance.now()
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } })
    let output = ''
    const read = (chunk: Buffer) => {
      output += chunk.toString()
      const ports = ready(output)
      if (ports === undefined) return
      const [port = 0, metricsPort = 0] = ports
      resolve({
        process: child,
        pid: child.pid ?? 0,
        port,
        metricsPort,
        readyAfter: performance.now() - began,
        stop: () => end(child),
      })
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.on('exit', (code) => reject(new Error(`${command} ended with ${code}:\n${output.slice(-2000)}`)))
  })
}

function end(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.removeAllListeners('exit')
    child.on('exit', () => resolve())
    child.kill('SIGTERM')
  })
}

/** CPU time of a process, its threads included, in microseconds. */
export function cpuMicros(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(')').at(-1)?.trim().split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * TICK
}

/** Resident memory in MB. */
export function residentMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
}

export interface Load {
  readonly requests: number
  readonly bytes: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
  readonly bad: number
}

/** Drives a server from a process of its own and tells what it did and what it cost the server, per request. */
export async function drive(
  server: Running,
  request: Uint8Array,
  how: { connections: number; seconds: number },
): Promise<Load & { cpu: number }> {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'conch-load-')), 'request')
  writeFileSync(file, request)
  const before = cpuMicros(server.pid)
  const args = [path.join(HERE, 'load.ts'), String(server.port), file, String(how.connections), String(how.seconds)]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  const load = JSON.parse(stdout) as Load
  if (load.bad > 0) throw new Error(`${load.bad} of ${load.requests} requests were not answered with 200`)
  return { ...load, cpu: (cpuMicros(server.pid) - before) / load.requests }
}

/** An infer request in binary form, as it goes over the wire. */
export function binaryRequest(
  model: string,
  inputs: readonly { name: string; shape: readonly number[]; data: Float32Array }[],
): Buffer {
  const described = inputs.map(({ name, shape, data }) => ({
    name,
    shape,
    datatype: 'FP32',
    parameters: { binary_data_size: data.byteLength },
  }))
  const head = Buffer.from(JSON.stringify({ inputs: described, parameters: { binary_data_output: true } }))
  const body = Buffer.concat([head, ...inputs.map(({ data }) => new Uint8Array(data.buffer))])
  const lines = [
    `POST /v2/models/${model}/infer HTTP/1.1`,
    'Host: 127.0.0.1',
    `Inference-Header-Content-Length: ${head.length}`,
  ]
  return Buffer.concat([Buffer.from([...lines, `Content-Length: ${body.length}`, '', ''].join('\r\n')), body])
}

/** Drives servers in turns, so that whatever disturbs the machine disturbs all of them; one list of loads a server. */
export async function driveInTurns(
  jobs: readonly { readonly server: Running; readonly request: Uint8Array }[],
  how: { connections: number; seconds: number; rounds: number },
): Promise<readonly (readonly (Load & { cpu: number })[])[]> {
  const loads = jobs.map(() => [] as (Load & { cpu: number })[])
  for (let round = 0; round < how.rounds; round += 1) {
    for (const [i, { server, request }] of jobs.entries()) loads[i]?.push(await drive(server, request, how))
  }
  return loads
}

export function printTable(rows: readonly Record<string, string | number>[]): void {
  console.table(rows)
}

export const round = (value: number, digits = 1) => Number(value.toFixed(digits))
export const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
