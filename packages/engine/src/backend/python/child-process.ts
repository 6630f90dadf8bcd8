import { spawn } from 'node:child_process'
import type { ChildProcess as NodeProcess } from 'node:child_process'
import { childEnvironment } from './env.ts'
import { countMemoryKills, describeExit } from '../exit-reason.ts'
import { LineLog } from '../line-log.ts'

export interface ChildPlan {
  /** The interpreter: a path, or a name on PATH. */
  readonly python: string
  readonly env: Readonly<Record<string, string>>
  /** What it inherits as descriptors 3, 4, 5 …. */
  readonly descriptors: readonly number[]
  /** Takes each line that it prints. */
  readonly onLine: (line: string) => void
}

/** One Python process and everything it starts: a process group of its own. */
export class ChildProcess {
  readonly #process: NodeProcess
  readonly #output: LineLog
  readonly #errors: LineLog
  readonly #memoryKills = countMemoryKills()
  #wasKilled: string | undefined = undefined
  /** Resolves when the process has ended, with the reason for a person. Never rejects. */
  readonly ended: Promise<string>

  constructor(plan: ChildPlan) {
    const log = () => new LineLog(plan.onLine, () => performance.now())
    this.#output = log()
    this.#errors = log()
    this.#process = spawn(plan.python, ['-m', 'conch_stub'], {
      detached: true,
      env: childEnvironment(plan.env),
      stdio: ['ignore', 'pipe', 'pipe', ...plan.descriptors],
    })
    this.#process.stdout?.on('data', (chunk: Buffer) => this.#output.push(chunk))
    this.#process.stderr?.on('data', (chunk: Buffer) => this.#errors.push(chunk))
    this.ended = this.#watch()
  }

  /** Undefined when it could not be started. */
  get pid(): number | undefined {
    return this.#process.pid
  }

  /** What it said last on standard error. */
  get lastErrors(): readonly string[] {
    return this.#errors.last
  }

  async #watch(): Promise<string> {
    const child = this.#process
    const reason = await new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(`it cannot be started: ${error.message}`))
      child.once('exit', (code, signal) => {
        // What it started has lost its owner; it would hold the pipes open as well.
        this.#killGroup()
        const isMemoryKill = signal === 'SIGKILL' && countMemoryKills() > this.#memoryKills
        resolve(this.#wasKilled ?? describeExit({ code, signal }, isMemoryKill))
      })
    })
    if (child.pid !== undefined) await waitClosed(child)
    this.#output.end()
    this.#errors.end()
    return reason
  }

  /** Ends the process and all it has started, at once. `reason` is told to whoever asks why it ended. */
  kill(reason: string): void {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return
    this.#wasKilled ??= reason
    this.#killGroup()
  }

  #killGroup(): void {
    const { pid } = this.#process
    if (pid === undefined) return
    try {
      process.kill(-pid, 'SIGKILL')
    } catch {
      // Nobody is left.
    }
  }
}

/** A descendant that left the group can hold the pipes: they are not waited for longer than this, milliseconds. */
const PIPES_FOR = 500

function waitClosed(child: NodeProcess): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      child.stdout?.destroy()
      child.stderr?.destroy()
      resolve()
    }, PIPES_FOR)
    child.once('close', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
