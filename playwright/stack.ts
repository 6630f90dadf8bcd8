import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test as base, expect, type Page } from '@playwright/test'

const ROOT = path.join(import.meta.dirname, '..')
export const EXAMPLES = path.join(ROOT, 'examples/models')

/** A whole Conch on ports and folders of its own. */
export interface Stack {
  readonly consoleUrl: string
  readonly httpUrl: string
  readonly repository: string
  /** Ends the server at once, as a crash would. */
  crash(): Promise<void>
  /** Starts it on the same ports and folders. */
  start(): Promise<void>
  close(): Promise<void>
}
interface StackOptions {
  /** Folders of `examples/models` to begin with. */
  readonly examples?: readonly string[]
  /** Writes more models before the server starts. */
  readonly fill?: (repository: string) => Promise<void>
  readonly flags?: readonly string[]
}

const READY_MS = 60_000
const POLL_MS = 100

export async function startStack({
  examples = [],
  fill,
  flags = ['--load-model=*'],
}: StackOptions = {}): Promise<Stack> {
  const folder = await mkdtemp(path.join(tmpdir(), 'conch-journey-'))
  const repository = path.join(folder, 'models')
  await mkdir(repository)
  for (const name of examples) await cp(path.join(EXAMPLES, name), path.join(repository, name), { recursive: true })
  await fill?.(repository)
  const [http, metrics, console] = await freePorts(3)
  const args = [
    'up',
    `--model-repository=${repository}`,
    '--model-control-mode=explicit',
    '--exit-on-error=false',
    '--http-address=127.0.0.1',
    '--metrics-address=127.0.0.1',
    `--http-port=${http}`,
    `--metrics-port=${metrics}`,
    '--console-address=127.0.0.1',
    `--console-port=${console}`,
    `--data-dir=${path.join(folder, 'data')}`,
    ...flags,
  ]
  const consoleUrl = `http://127.0.0.1:${console}`
  const children: ChildProcess[] = []
  const stop = async (signal: NodeJS.Signals) => {
    const child = children.at(-1)
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill(signal)
    await gone
  }
  const stack: Stack = {
    consoleUrl,
    httpUrl: `http://127.0.0.1:${http}`,
    repository,
    crash: () => stop('SIGKILL'),
    start: async () => {
      const started = spawn(path.join(ROOT, 'bin/conch'), args, { stdio: ['ignore', 'pipe', 'pipe'] })
      children.push(started)
      await waitUntilReady(started, consoleUrl)
    },
    close: async () => {
      await stop('SIGTERM')
      await rm(folder, { recursive: true, force: true })
    },
  }
  await stack.start()
  return stack
}

/** Taken together, so that no two are the same. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}

async function waitUntilReady(child: ChildProcess, url: string): Promise<void> {
  let output = ''
  child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const deadline = Date.now() + READY_MS
  while (Date.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`bin/conch up ended with ${child.exitCode}:\n${output.slice(-4000)}`)
    const answer = await fetch(`${url}/login`).catch(() => undefined)
    if (answer?.ok === true) return
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
  throw new Error(`bin/conch up is not ready after ${READY_MS} ms:\n${output.slice(-4000)}`)
}

/** Sends one request after the other until it is told to stop; counts the answers. */
export function sendLoad(url: string, body: string): { stop(): Promise<number> } {
  let running = true
  let answers = 0
  const lane = async () => {
    while (running) {
      const response = await fetch(url, { method: 'POST', body })
      await response.arrayBuffer()
      if (response.ok) answers += 1
      await new Promise((resolve) => setTimeout(resolve, 15))
    }
  }
  const lanes = Promise.all([lane(), lane(), lane()])
  return {
    stop: async () => {
      running = false
      await lanes
      return answers
    },
  }
}

export const PERSON = { name: 'ada', password: 'correct horse battery' }

/** Makes the first account through the page, as a person would. */
export async function signUp(page: Page): Promise<void> {
  await page.goto('/')
  await page.waitForURL('**/setup')
  await page.getByLabel('Name').fill(PERSON.name)
  await page.getByLabel('Password').fill(PERSON.password)
  await page.getByRole('button', { name: 'Make the account' }).click()
  await page.waitForURL('**/models')
}

/** A model folder that costs nothing, for lists of many. */
export async function writeIdentityModel(repository: string, name: string): Promise<void> {
  const folder = path.join(repository, name)
  await mkdir(path.join(folder, '1'), { recursive: true })
  const tensor = (label: string) => `[ { name: "${label}" data_type: TYPE_FP32 dims: [ 4 ] } ]`
  await writeFile(
    path.join(folder, 'config.pbtxt'),
    `backend: "identity"\ninput ${tensor('INPUT0')}\noutput ${tensor('OUTPUT0')}\n`,
  )
}

interface Fixtures {
  /** Every address that the page asked for. */
  readonly visited: string[]
}

/** Fails when a page talks to anything but this machine, or throws. */
export const test = base.extend<Fixtures>({
  visited: [
    async ({ page }, use) => {
      const visited: string[] = []
      const errors: string[] = []
      page.on('request', (request) => visited.push(request.url()))
      page.on('websocket', (socket) => visited.push(socket.url()))
      page.on('pageerror', (error) => errors.push(error.message))
      await use(visited)
      const hosts = new Set(
        visited
          .map((url) => new URL(url))
          .filter((url) => url.protocol !== 'blob:' && url.protocol !== 'data:')
          .map((url) => url.hostname),
      )
      expect([...hosts].filter((host) => host !== '127.0.0.1')).toEqual([])
      expect(errors).toEqual([])
    },
    { auto: true },
  ],
})

export { expect }
