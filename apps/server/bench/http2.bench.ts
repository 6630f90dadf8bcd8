import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { connect } from 'node:http2'
import type { ClientHttp2Session } from 'node:http2'
import path from 'node:path'

/** Which HTTP/2 carries gRPC (ADR 8): CPU µs a call of a bare echo on Node's and on ours, in turns. */
const ROUNDS = 5
const CALLS = 8_000
const BODY = Buffer.alloc(200, 1)
const TICK = 10_000

async function start(kind: 'node' | 'own') {
  const args = [
    '--conditions=@conch/source',
    '--disable-warning=ExperimentalWarning',
    path.join(import.meta.dirname, 'http2-echo.ts'),
    kind,
  ]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const port = await new Promise<number>((resolve) =>
    child.stdout.once('data', (chunk: Buffer) => resolve(Number(String(chunk)))),
  )
  return { child, session: connect(`http://127.0.0.1:${port}`) }
}

function readCpu(pid: number | undefined): number {
  const fields =
    readFileSync(`/proc/${pid ?? 0}/stat`, 'utf8')
      .split(') ')
      .at(-1)
      ?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * TICK
}

function call(session: ClientHttp2Session): Promise<void> {
  return new Promise((resolve, reject) => {
    const stream = session.request({
      ':method': 'POST',
      ':path': '/inference.X/Y',
      'content-type': 'application/grpc',
      te: 'trailers',
    })
    stream.on('error', reject)
    stream.on('close', resolve)
    stream.resume()
    stream.end(BODY)
  })
}

async function run(session: ClientHttp2Session, calls: number, inflight: number): Promise<void> {
  const work = async () => {
    for (let i = 0; i < calls / inflight; i += 1) await call(session)
  }
  await Promise.all(Array.from({ length: inflight }, work))
}

const servers = { node: await start('node'), own: await start('own') }
for (const inflight of [1, 8, 32]) {
  const used = { node: [] as number[], own: [] as number[] }
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const kind of ['node', 'own'] as const) {
      const { child, session } = servers[kind]
      await run(session, 1_000, inflight)
      const before = readCpu(child.pid)
      await run(session, CALLS, inflight)
      used[kind].push((readCpu(child.pid) - before) / CALLS)
    }
  }
  const median = (list: number[]) => list.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0
  const [node, own] = [median(used.node), median(used.own)]
  process.stdout.write(`${inflight} in flight: node:http2 ${node.toFixed(1)} µs a call, ours ${own.toFixed(1)} µs\n`)
}
for (const { child, session } of Object.values(servers)) {
  session.close()
  child.kill('SIGTERM')
}
