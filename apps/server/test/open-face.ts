import { onTestFinished } from 'vitest'
import type { Engine } from '@conch/engine'
import { startHttp } from '../src/http/listener.ts'
import { ServerLog } from '../src/log.ts'
import { parseServeOptions } from '../src/options.ts'
import { Tracer } from '../src/tracing/tracer.ts'
import { fakeEngine } from './fake-engine.ts'
import { RawClient } from './raw-client.ts'

/** An HTTP face on a free loopback port, closed when the test ends. */
export async function openFace(engine: Partial<Engine> = {}, ...args: string[]) {
  const options = parseServeOptions(['--http-address=127.0.0.1', '--http-port=0', '--log-error=false', ...args], {})
  const log = new ServerLog(options.log)
  const face = await startHttp({
    engine: fakeEngine(engine),
    log,
    options: options.http,
    id: options.id,
    allowClientShm: false,
    trace: new Tracer(options.trace, log),
    access: undefined,
  })
  onTestFinished(() => face.stop())
  const open = () => {
    const client = new RawClient(face.address)
    onTestFinished(() => client.end())
    return client
  }
  return { face, log, open }
}

export function post(path: string, body: string | Uint8Array, ...headers: string[]): Buffer {
  const bytes = Buffer.from(body)
  const lines = [`POST ${path} HTTP/1.1`, 'Host: t', ...headers, `Content-Length: ${bytes.length}`, '', '']
  return Buffer.concat([Buffer.from(lines.join('\r\n')), bytes])
}

export function get(path: string, ...headers: string[]): string {
  return [`GET ${path} HTTP/1.1`, 'Host: t', ...headers, '', ''].join('\r\n')
}
