import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { ConchError } from '@conch/protocol'
import type { BackendContext } from '../contract.ts'
import { countMemoryKills, describeExit } from '../exit-reason.ts'
import { LineLog } from '../line-log.ts'
import type { Opened, Opening } from './bodies.ts'
import { Wire } from './wire.ts'
import type { Message, WireParts } from './wire.ts'

/** Source or build, as this file is. */
const IS_SOURCE = import.meta.url.endsWith('.ts')
const HOST = fileURLToPath(new URL(IS_SOURCE ? './host.ts' : './host.js', import.meta.url))
/** A backend need not be a package. */
const QUIET = ['--disable-warning=ExperimentalWarning', '--disable-warning=MODULE_TYPELESS_PACKAGE_JSON']
/** Longest that Node and the backend's module may take to start, milliseconds. */
const START_MS = 60_000
/** What a child gets to end by itself, milliseconds. */
const END_MS = 5_000

export interface ChildParts extends Omit<WireParts, 'send'> {
  readonly log: BackendContext['log']
}

/** One process that runs a custom backend. Whatever it does, the server goes on. */
export class Child {
  readonly wire: Wire
  /** Resolves when it has ended, with the reason for a person. Never rejects. */
  readonly ended: Promise<string>
  readonly #process: ChildProcess
  readonly #errors: LineLog
  readonly #memoryKills = countMemoryKills()
  #killed: string | undefined = undefined

  private constructor({ log, answer, note }: ChildParts, name: string) {
    this.#process = fork(HOST, [], {
      serialization: 'advanced',
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      execArgv: IS_SOURCE ? [...QUIET, '--conditions=@conch/source'] : [...QUIET],
    })
    const createLog = (level: 'info' | 'warning') =>
      new LineLog(
        (line) => log(level, `${name}: ${line}`),
        () => performance.now(),
      )
    const output = createLog('info')
    this.#errors = createLog('warning')
    this.#process.stdout?.on('data', (chunk: Buffer) => output.push(chunk))
    this.#process.stderr?.on('data', (chunk: Buffer) => this.#errors.push(chunk))
    this.wire = new Wire({ send: (message) => this.#send(message), answer, note })
    this.#process.on('message', (message) => this.wire.receive(message as Message))
    this.ended = this.#watch(name, output)
  }

  /** Starts one and has it import the backend. Throws why it cannot. */
  static async open(opening: Opening, parts: ChildParts): Promise<{ child: Child; opened: Opened }> {
    const child = new Child(parts, opening.name)
    const timer = setTimeout(() => child.kill(`it did not start within ${START_MS / 1_000} s`), START_MS)
    try {
      const { name, directory, file } = opening
      return { child, opened: (await child.wire.ask('open', { name, directory, file })) as Opened }
    } catch (error) {
      await child.end()
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  /** At once. `reason` is told to whoever asks why it ended. */
  kill(reason: string): void {
    this.#killed ??= reason
    this.#process.kill('SIGKILL')
  }

  /** It has nothing to do any more: it ends by itself, or is ended. */
  async end(): Promise<void> {
    if (this.#process.connected) this.#process.disconnect()
    const timer = setTimeout(() => this.kill('it did not end by itself'), END_MS)
    await this.ended
    clearTimeout(timer)
  }

  #send(message: Message): void {
    // Errors of a channel that is just closing come as the end of the process.
    if (this.#process.connected) this.#process.send(message, undefined, undefined, () => undefined)
  }

  async #watch(name: string, output: LineLog): Promise<string> {
    const exit = await new Promise<string>((resolve) => {
      this.#process.once('error', (error) => resolve(`it cannot be started: ${error.message}`))
      this.#process.once('exit', (code, signal) => {
        const isMemoryKill = signal === 'SIGKILL' && countMemoryKills() > this.#memoryKills
        resolve(this.#killed ?? describeExit({ code, signal }, isMemoryKill))
      })
    })
    // The pipes bring what it said last, a little later than its end.
    await new Promise((resolve) => setImmediate(resolve))
    output.end()
    this.#errors.end()
    const said = this.#errors.last.findLast((line) => /^\w*(Error|Exception)\b|FATAL/.test(line))
    const reason = said === undefined ? exit : `${exit}; it said: ${said}`
    this.wire.break(new ConchError('UNAVAILABLE', `the process of backend '${name}' is gone: ${reason}`))
    return reason
  }
}
