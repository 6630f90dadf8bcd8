import { execFile, spawn } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const root = path.resolve(import.meta.dirname, '../../..')
const run = promisify(execFile)
const SELF =
  'console.log(JSON.stringify({ pid: process.pid, args: process.argv.slice(2), threads: process.env.UV_THREADPOOL_SIZE, file: process.argv[1] }))'

interface Said {
  readonly pid: number
  readonly args: readonly string[]
  readonly threads: string
  readonly file: string
}

describe('bin/conch', () => {
  let house = ''

  beforeEach(() => {
    house = mkdtempSync(path.join(tmpdir(), 'conch-launcher-'))
    for (const folder of ['bin', 'node_modules/node-pinned/bin', 'apps/server/src', 'apps/server/dist'])
      mkdirSync(path.join(house, folder), { recursive: true })
    cpSync(path.join(root, 'bin/conch'), path.join(house, 'bin/conch'))
    symlinkSync(process.execPath, path.join(house, 'node_modules/node-pinned/bin/node'))
    writeFileSync(path.join(house, 'package.json'), '{"type":"module"}')
    writeFileSync(path.join(house, 'apps/server/src/main.ts'), `const text: string = ''\n${SELF}`)
    writeFileSync(path.join(house, 'apps/server/dist/main.js'), SELF)
  })
  afterEach(() => rmSync(house, { recursive: true }))

  async function say(args: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<Said> {
    const cwd = path.join(house, 'apps')
    const { stdout } = await run(path.join(house, 'bin/conch'), args, {
      cwd,
      env: { PATH: process.env['PATH'], ...environment },
    })
    return JSON.parse(stdout) as Said
  }

  it('runs the sources from any folder and hands the arguments on', async () => {
    const said = await say(['serve', '--id=a b', '--', '$HOME'])
    expect(said.args).toEqual(['serve', '--id=a b', '--', '$HOME'])
    expect(said.file).toMatch(/src\/main\.ts$/)
  })
  it('runs dist where there are no sources', async () => {
    rmSync(path.join(house, 'apps/server/src'), { recursive: true })
    expect((await say([])).file).toMatch(/dist\/main\.js$/)
  })
  it('is found through links', async () => {
    mkdirSync(path.join(house, 'elsewhere'))
    symlinkSync('../bin/conch', path.join(house, 'elsewhere/relative'))
    symlinkSync(path.join(house, 'elsewhere/relative'), path.join(house, 'elsewhere/absolute'))
    const { stdout } = await run('./absolute', ['x'], { cwd: path.join(house, 'elsewhere') })
    expect((JSON.parse(stdout) as Said).args).toEqual(['x'])
  })
  it('becomes the server, so that signals to its pid reach it', async () => {
    const child = spawn(path.join(house, 'bin/conch'), [], { stdio: ['ignore', 'pipe', 'inherit'] })
    const text = await new Promise<string>((resolve) =>
      child.stdout.once('data', (chunk: Buffer) => resolve(String(chunk))),
    )
    expect((JSON.parse(text) as Said).pid).toBe(child.pid)
  })
  it('sizes the thread pool unless it is told', async () => {
    expect(Number((await say([])).threads)).toBeGreaterThanOrEqual(8)
    expect((await say([], { UV_THREADPOOL_SIZE: '3' })).threads).toBe('3')
  })
  it('says what is missing where no fitting Node is', async () => {
    rmSync(path.join(house, 'node_modules'), { recursive: true })
    const old = path.join(house, 'node')
    writeFileSync(old, '#!/bin/sh\necho 20\n')
    chmodSync(old, 0o755)
    await expect(say([], { PATH: `${house}:/usr/bin:/bin` })).rejects.toThrow(
      /Node 24 or newer is needed, found .*node\. Run 'npm ci'/,
    )
  })
})

describe('npm start', () => {
  it('names the port that is taken and the flag that changes it', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as AddressInfo
    const started = run(process.execPath, [
      path.join(root, 'bin/start.mjs'),
      `--metrics-port=${port}`,
      '--http-port',
      '0',
      '--console-port=0',
    ])
    await expect(started).rejects.toThrow(
      `Port ${port} on 127.0.0.1 (metrics) is taken by another program. Choose another one: npm start -- --metrics-port=`,
    )
    server.close()
  })
})

describe('npm test', () => {
  it('refuses a check that does not exist', async () => {
    await expect(run(process.execPath, [path.join(root, 'bin/test.mjs'), '--only=units'])).rejects.toThrow(
      /No such check: units\. There are: format, lint/,
    )
  })
})
