import { connect, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2'
import { onTestFinished } from 'vitest'
import type { Engine } from '@conch/engine'
import { startGrpc } from '../src/grpc/listener.ts'
import { ServerLog } from '../src/log.ts'
import { parseServeOptions } from '../src/options.ts'
import { Tracer } from '../src/tracing/tracer.ts'
import { fakeEngine } from './fake-engine.ts'

/** A gRPC face on a free loopback port and Node's own HTTP/2 client, both closed when the test ends. */
export async function openGrpc(engine: Partial<Engine> = {}, ...args: string[]) {
  const options = parseServeOptions(['--grpc-address=127.0.0.1', '--grpc-port=0', '--log-error=false', ...args], {})
  const log = new ServerLog(options.log)
  const face = await startGrpc({
    engine: fakeEngine(engine),
    log,
    options: options.grpc,
    id: options.id,
    allowClientShm: false,
    trace: new Tracer(options.trace, log),
    access: undefined,
  })
  onTestFinished(() => face.stop())
  const open = () => {
    const session = connect(`http://${face.address}`)
    session.on('error', () => undefined)
    onTestFinished(() => session.destroy())
    return session
  }
  return { face, open, session: open(), port: Number(face.address.split(':')[1]) }
}

export interface Ended {
  readonly http: number | undefined
  /** `grpc-status`, and its message decoded. */
  readonly status: string | undefined
  readonly message: string
  readonly body: Buffer
  /** How the stream was reset; 0 = it was not. */
  readonly reset: number
}

/** Begins a call; `end` resolves when it is over. */
export function begin(session: ClientHttp2Session, method: string, headers: Record<string, string> = {}) {
  const path = method.startsWith('/') ? method : `/inference.GRPCInferenceService/${method}`
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...headers,
  })
  return { stream, ended: waitForEnd(stream) }
}

/** A whole call with one request. */
export async function call(
  session: ClientHttp2Session,
  method: string,
  body: Uint8Array,
  headers?: Record<string, string>,
) {
  const { stream, ended } = begin(session, method, headers)
  stream.end(body)
  return ended
}

function waitForEnd(stream: ClientHttp2Stream): Promise<Ended> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let fields: Record<string, unknown> = {}
    stream.on('response', (headers) => (fields = { ...headers }))
    stream.on('trailers', (headers) => (fields = { ...fields, ...headers }))
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('error', () => undefined)
    stream.on('close', () => {
      resolve({
        http: fields[':status'] as number | undefined,
        status: fields['grpc-status'] as string | undefined,
        message: decodeURIComponent((fields['grpc-message'] as string | undefined) ?? ''),
        body: Buffer.concat(chunks),
        reset: stream.rstCode ?? 0,
      })
    })
  })
}

/** A message in gRPC's frame. */
export function frame(message: Uint8Array, compressed = 0): Buffer {
  const head = Buffer.alloc(5)
  head[0] = compressed
  head.writeUInt32BE(message.length, 1)
  return Buffer.concat([head, message])
}

/** The messages of a body. */
export function unframe(body: Buffer): Buffer[] {
  const messages: Buffer[] = []
  for (let at = 0; at < body.length;) {
    const end = at + 5 + body.readUInt32BE(at + 1)
    messages.push(body.subarray(at + 5, end))
    at = end
  }
  return messages
}
