import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The yardstick: a bare node:http server that reads a body and sends `REPLY_BYTES` bytes (default: the same body) back. */
const size = process.env['REPLY_BYTES']
const fixed = size === undefined ? undefined : Buffer.alloc(Number(size), 1)
const server = createServer((req, res) => {
  const chunks: Buffer[] = []
  req.on('data', (chunk: Buffer) => chunks.push(chunk))
  req.on('end', () => {
    const body = fixed ?? (chunks.length === 1 ? (chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(chunks))
    res.writeHead(200, { 'Content-Type': 'application/octet-stream', 'Content-Length': body.length })
    res.end(body)
  })
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`))
process.on('SIGTERM', () => process.exit(0))
