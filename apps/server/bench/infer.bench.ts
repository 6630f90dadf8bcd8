import { binaryRequest, drive, printTable, round, startConch, startEcho } from './measure.ts'
import { makeRepository } from './models.ts'

/**
 * A small binary inference (2 × 16 floats, ONNX add/sub) against a bare node:http server that reads the same bytes and
 * sends as many back, in turn on the same machine. The number that matters is CPU per request.
 */
const ROW = new Float32Array(16).fill(1.5)
const request = binaryRequest('add_sub', [
  { name: 'INPUT0', shape: [1, 16], data: ROW },
  { name: 'INPUT1', shape: [1, 16], data: ROW },
])
const REPLY_BYTES = 372
const how = { connections: 4, seconds: 4 }

const conch = await startConch(makeRepository(['add_sub']))
const echo = await startEcho(REPLY_BYTES)
try {
  for (const server of [conch, echo]) await drive(server, request, { connections: 4, seconds: 2 })
  const rows = []
  for (let turn = 0; turn < 3; turn += 1) {
    const bare = await drive(echo, request, how)
    const full = await drive(conch, request, how)
    rows.push({
      'echo µs': round(bare.cpu),
      'conch µs': round(full.cpu),
      'above µs (≤ 25)': round(full.cpu - bare.cpu),
      'echo /s': round(bare.requests / how.seconds, 0),
      'conch /s': round(full.requests / how.seconds, 0),
      'conch p99 ms': round(full.p99, 2),
    })
  }
  printTable(rows)
} finally {
  await conch.stop()
  await echo.stop()
}
