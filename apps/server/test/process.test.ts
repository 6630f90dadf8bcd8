import { spawn } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { RawClient } from './raw-client.ts'
import { get } from './open-face.ts'

const MAIN = path.join(import.meta.dirname, '../src/main.ts')
const LOCAL = ['--http-address=127.0.0.1', '--http-port=0', '--metrics-port=0']

/** Runs the command as a user does; `output` is everything it has printed so far. */
function conch(...args: string[]) {
  const child = spawn(process.execPath, ['--conditions=@conch/source', MAIN, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let wake = () => undefined as void
  const read = (chunk: Buffer) => {
    output += chunk.toString()
    wake()
  }
  child.stdout.on('data', read)
  child.stderr.on('data', read)
  const code = new Promise<number | null>((resolve) => child.on('close', resolve))
  onTestFinished(() => void child.kill('SIGKILL'))
  return {
    code,
    text: () => output,
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    async line(pattern: RegExp): Promise<RegExpExecArray> {
      for (;;) {
        const found = pattern.exec(output)
        if (found) return found
        await new Promise<void>((resolve) => (wake = resolve))
      }
    },
  }
}

const emptyRepository = () => mkdtempSync(path.join(tmpdir(), 'conch-empty-'))

it(
  'serves, says where, and ends with 0 on the first signal, idle and silent connections notwithstanding',
  { timeout: 20_000 },
  async () => {
    const server = conch('serve', `--model-repository=${emptyRepository()}`, ...LOCAL)
    const [, address = ''] = await server.line(/Started HTTPService at ([\d.:]+)/)
    const [, metrics = ''] = await server.line(/Started Metrics Service at ([\d.:]+)/)
    const idle = new RawClient(address).send(get('/v2/health/ready'))
    expect((await idle.reply())?.status).toBe(200)
    const scrape = new RawClient(metrics).send(
      get('/metrics'),
      get('/elsewhere'),
      'POST /metrics HTTP/1.1\r\nHost: t\r\nContent-Length: 0\r\n\r\n',
    )
    expect((await scrape.reply())?.head).toContain('Content-Type: text/plain; charset=utf-8')
    const elsewhere = await scrape.reply()
    expect([elsewhere?.status, elsewhere?.body.length]).toEqual([200, 0])
    expect((await scrape.reply())?.status).toBe(405)
    const silent = new RawClient(address)
    server.kill('SIGTERM')
    server.kill('SIGINT')
    expect(await server.code).toBe(0)
    await Promise.all([idle.closed(), silent.closed(), scrape.closed()])
    expect(server.text().match(/Signal \((2|15)\) received\./g)).toHaveLength(1)
  },
)

it('ends with 1 and names port and flag when a port is taken', { timeout: 20_000 }, async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void taken.close())
  await new Promise((resolve) => taken.on('listening', resolve))
  const { port } = taken.address() as AddressInfo
  const server = conch(
    'serve',
    `--model-repository=${emptyRepository()}`,
    '--http-address=127.0.0.1',
    `--http-port=${port}`,
    '--metrics-port=0',
  )
  expect(await server.code).toBe(1)
  expect(server.text()).toContain(`Socket '127.0.0.1:${port}' already in use`)
  expect(server.text()).toContain('--http-port')
})

it.each([
  [['serve'], 1, 'creating server: Invalid argument - --model-repository must be specified'],
  [['serve', '--model-repository=/no/such'], 1, 'failed to stat file /no/such'],
  [['serve', '--http-port=abc'], 1, 'Bad option: "--http-port".\nInvalid option value. Got abc'],
  [['perf'], 2, 'later release'],
  [['nope'], 2, "unknown command 'nope'"],
  [['--version'], 0, 'conch '],
  [['--help'], 0, 'conch config check'],
  [['serve', '--help'], 0, '--http-restricted-api'],
  [['config', 'check'], 2, 'name at least one'],
  [['config', 'check', '/no/such'], 1, 'error'],
  [['zoo', 'list'], 0, 'Apache-2.0'],
] as const)('conch %j ends with %d', { timeout: 20_000 }, async (args, code, text) => {
  const run = conch(...args)
  expect([await run.code, run.text().includes(text)]).toEqual([code, true])
})
