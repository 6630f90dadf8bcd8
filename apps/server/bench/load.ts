import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import type { Socket } from 'node:net'

/**
 * A client process of its own: raw keep-alive sockets that send one prepared request again and again.
 * `node load.ts PORT FILE CONNECTIONS SECONDS` prints `{"requests":…,"bytes":…,"p50":…,"p99":…,"bad":…}` (ms).
 */
const [port = '', file = '', connections = '4', seconds = '3'] = process.argv.slice(2)
const request = readFileSync(file)
const latencies: number[] = []
let bytes = 0
let bad = 0
let running = true

function drive(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    let received = 0
    let expected = -1
    let head = ''
    let sent = 0
    const send = () => {
      received = 0
      expected = -1
      head = ''
      sent = performance.now()
      socket.write(request)
    }
    socket.on('data', (chunk) => {
      received += chunk.length
      if (expected < 0) {
        head += chunk.toString('latin1', 0, 1024)
        const end = head.indexOf('\r\n\r\n')
        if (end < 0) return
        const length = /\r\ncontent-length: *(\d+)/i.exec(head.slice(0, end))
        expected = end + 4 + Number(length?.[1] ?? 0)
        if (!head.startsWith('HTTP/1.1 200')) bad += 1
      }
      if (received < expected) return
      bytes += received
      latencies.push(performance.now() - sent)
      if (running) send()
      else {
        socket.end()
        resolve()
      }
    })
    socket.on('error', reject)
    socket.on('connect', send)
  })
}

setTimeout(() => (running = false), Number(seconds) * 1000)
await Promise.all(
  Array.from({ length: Number(connections) }, () =>
    drive(connect({ host: '127.0.0.1', port: Number(port), noDelay: true })),
  ),
)
latencies.sort((a, b) => a - b)
const at = (q: number) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * q))] ?? 0
process.stdout.write(JSON.stringify({ requests: latencies.length, bytes, p50: at(0.5), p99: at(0.99), bad }))
