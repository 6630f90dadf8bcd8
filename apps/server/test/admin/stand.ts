import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request, type IncomingHttpHeaders } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createEngine, type Engine, type EngineOptions, type LogLevel } from '@conch/engine'
import { FakeBackend, fakeConfig, onlyBackends, testOptions } from '@conch/engine/testing'
import type { AdminOptions } from '../../src/admin/admin-options.ts'
import { startAdmin } from '../../src/admin/listener.ts'

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}
export interface Asking {
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: string | Buffer
}
export type Stand = Awaited<ReturnType<typeof openStand>>

export interface StandOptions {
  readonly admin?: Partial<AdminOptions>
  readonly engine?: Partial<EngineOptions>
  /** The backends of the product instead of the fake one. */
  readonly runtimes?: 'fake' | 'real'
  /** Files of the repository. */
  readonly files?: Record<string, string | Buffer>
}

/** Two models on the fake backend, the real engine and a console on a free port of 127.0.0.1. */
export async function openStand({ admin = {}, engine: change = {}, files, runtimes = 'fake' }: StandOptions = {}) {
  const base = await mkdtemp(join(tmpdir(), 'conch-admin-'))
  const repository = join(base, 'models')
  await putFiles(
    repository,
    files ?? {
      'one/config.pbtxt': fakeConfig(),
      'one/1/model.fake': 'x',
      'two/config.pbtxt': fakeConfig(),
      'two/1/model.fake': 'x',
    },
  )
  const backend = new FakeBackend()
  const options = testOptions([repository], { startupModels: ['*'], ...change })
  const engine: Engine = createEngine(options, runtimes === 'fake' ? { findBackend: onlyBackends(backend) } : {})
  await engine.start()
  const lines: string[] = []
  const running = await startAdmin({
    engine,
    log: { write: (level: LogLevel, text: string) => void lines.push(`${level} ${text}`) },
    dataDirectory: join(base, 'data'),
    address: '127.0.0.1',
    port: 0,
    serve: { repositories: [repository], controlMode: options.controlMode, id: 'test', pollSeconds: 15 },
    addresses: { http: '127.0.0.1:8000', metrics: '127.0.0.1:8002' },
    consoleDirectory: join(base, 'console'),
    ...admin,
  })
  const { port } = new URL(running.url)
  const host = `127.0.0.1:${port}`
  const ask = (path: string, asking: Asking = {}) => send({ port: Number(port), host, path, asking })
  return {
    base,
    repository,
    dataDirectory: join(base, 'data'),
    engine,
    backend,
    host,
    port: Number(port),
    lines,
    ask,
    /** Calls a procedure; mutations by POST, queries by GET. */
    async call(kind: 'query' | 'mutation', procedure: string, input?: unknown, cookie = '') {
      const text = input === undefined ? undefined : JSON.stringify(input)
      const headers = { ...(cookie === '' ? {} : { cookie }), 'content-type': 'application/json' }
      const answer =
        kind === 'mutation'
          ? await ask(`/api/trpc/${procedure}`, {
              method: 'POST',
              headers: { ...headers, origin: `http://${host}` },
              body: text ?? '{}',
            })
          : await ask(`/api/trpc/${procedure}${text === undefined ? '' : `?input=${encodeURIComponent(text)}`}`, {
              headers,
            })
      const parsed = JSON.parse(answer.text) as {
        result?: { data: unknown }
        error?: { message: string; data: { conch: { code: string; message: string; problems?: unknown[] } } }
      }
      return { ...answer, data: parsed.result?.data, error: parsed.error }
    },
    async close() {
      await running.stop()
      await engine.stop()
      await rm(base, { recursive: true, force: true })
    },
  }
}

export async function putFiles(directory: string, files: Record<string, string | Buffer>): Promise<void> {
  await mkdir(directory, { recursive: true })
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, path)), { recursive: true })
    await writeFile(join(directory, path), content)
  }
}

interface Sending {
  readonly port: number
  readonly host: string
  readonly path: string
  readonly asking: Asking
}

function send({ port, host, path, asking }: Sending): Promise<Answer> {
  const { method = 'GET', headers = {}, body } = asking
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { port, host: '127.0.0.1', path, method, headers: { host, ...headers }, agent: false },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(chunks).toString('utf8'),
          }),
        )
      },
    )
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

export const PASSWORD = 'correct horse battery'

/** Makes the first account (an admin) and returns its cookie. */
export async function signUp(stand: Stand, name = 'root'): Promise<string> {
  const answer = await stand.call('mutation', 'account.setup', { name, password: PASSWORD })
  return readCookie(answer)
}

/** Makes a user of that role and returns a cookie. */
export async function signIn(stand: Stand, admin: string, role: string): Promise<string> {
  await stand.call('mutation', 'account.createUser', { name: `a-${role}`, password: PASSWORD, role }, admin)
  return readCookie(await stand.call('mutation', 'account.login', { name: `a-${role}`, password: PASSWORD }))
}

export function readCookie({ headers }: Pick<Answer, 'headers'>): string {
  return headers['set-cookie']?.[0]?.split(';')[0] ?? ''
}
