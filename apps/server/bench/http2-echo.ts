import { createServer } from 'node:http2'
import { createServer as createSocketServer } from 'node:net'
import type { AddressInfo, Server } from 'node:net'
import { encodeHeaders } from '@conch/protocol'
import { Connection } from '../src/grpc/http2/connection.ts'
import type { H2Stream, StreamHandler } from '../src/grpc/http2/stream.ts'

/** The yardsticks of ADR 8: a gRPC call whose answer is its request, on Node's HTTP/2 and on ours. Argument: `node` or `own`. */
const PINGS = { time: Infinity, timeout: 20_000, withoutCalls: true, withoutData: 0, leastInterval: 0, strikes: 0 }
const UNBOUNDED = { take: () => true, giveBack: () => undefined }
const HEADERS = encodeHeaders([':status', '200', 'content-type', 'application/grpc'])
const TRAILERS = encodeHeaders(['grpc-status', '0'])

function openNode(): Server {
  const server = createServer()
  server.on('stream', (stream) => {
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('end', () => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
      stream.end(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))
    })
  })
  return server
}

function openOwn(): Server {
  const open = (stream: H2Stream): StreamHandler => {
    const chunks: Uint8Array[] = []
    return {
      data: (piece) => void chunks.push(piece),
      end: () => {
        stream.respond(HEADERS, false)
        stream.write(chunks)
        stream.end(TRAILERS)
      },
      gone: () => undefined,
      drained: () => undefined,
    }
  }
  const nothing = () => undefined
  const connections = new Set<Connection>()
  return createSocketServer((socket) => {
    socket.setNoDelay(true)
    connections.add(
      new Connection(socket, {
        pings: PINGS,
        memory: UNBOUNDED,
        open,
        log: nothing,
        closed: (one) => void connections.delete(one),
      }),
    )
  })
}

const server = process.argv[2] === 'own' ? openOwn() : openNode()
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`))
process.on('SIGTERM', () => process.exit(0))
