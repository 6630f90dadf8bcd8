import { binaryRequest, driveInTurns, printTable, round, startConch, startEcho } from './measure.ts'
import { makeRepository } from './models.ts'
import { median, report } from './targets.ts'

/**
 * A small binary inference (2 × 16 floats, ONNX add/sub) against a bare node:http server that reads the same bytes and
 * sends as many back, in turns on the same machine. The number that matters is the server's CPU time a request.
 */
const ROW = new Float32Array(16).fill(1.5)
const request = binaryRequest('add_sub', [
  { name: 'INPUT0', shape: [1, 16], data: ROW },
  { name: 'INPUT1', shape: [1, 16], data: ROW },
])
const REPLY_BYTES = 372

const conch = await startConch(makeRepository(['add_sub']))
const echo = await startEcho(REPLY_BYTES)
const jobs = [echo, conch].map((server) => ({ server, request }))
try {
  await driveInTurns(jobs, { connections: 8, seconds: 8, rounds: 1 })
  for (const connections of [1, 8]) {
    const [bare = [], full = []] = await driveInTurns(jobs, { connections, seconds: 1, rounds: 15 })
    const above = full.map(({ cpu }, i) => cpu - (bare[i]?.cpu ?? Number.NaN))
    const times = full.map(({ cpu }, i) => cpu / (bare[i]?.cpu ?? Number.NaN))
    const of = (key: 'cpu' | 'requests' | 'p99', loads: typeof full) => round(median(loads.map((load) => load[key])), 2)
    printTable([
      { server: 'echo', 'CPU µs': of('cpu', bare), 'requests/s': of('requests', bare), 'p99 ms': of('p99', bare) },
      { server: 'conch', 'CPU µs': of('cpu', full), 'requests/s': of('requests', full), 'p99 ms': of('p99', full) },
    ])
    report({
      name: `small binary infer above a bare echo, ${connections} connection${connections === 1 ? '' : 's'}`,
      limit: 25,
      measured: round(median(above)),
      unit: 'µs CPU',
      note: `echo ${of('cpu', bare)} µs here, ratio ${round(median(times), 2)}`,
    })
  }
} finally {
  await conch.stop()
  await echo.stop()
}
