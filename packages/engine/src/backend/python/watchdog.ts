import { readFileSync } from 'node:fs'
import type { Worker } from './worker.ts'

const TICK = 1_000

/**
 * Ends a process that stands still: its threads do not run and it uses no processor either. One that computes for long
 * with the interpreter's lock held is left alone. Counts its own ticks, so that a server that was stopped itself blames nobody.
 */
export class Watchdog {
  readonly #worker: Worker
  readonly #limit: number
  readonly #timer: NodeJS.Timeout
  #heartbeat = 0n
  #cpu = ''
  #ticks = 0

  /** `limit` in seconds. */
  constructor(worker: Worker, limit: number) {
    this.#worker = worker
    this.#limit = limit
    this.#timer = setInterval(() => this.#look(), TICK).unref()
  }

  #look(): void {
    const heartbeat = this.#worker.heartbeat()
    if (heartbeat !== this.#heartbeat) {
      this.#heartbeat = heartbeat
      this.#ticks = 0
      return
    }
    const cpu = readProcessorTime(this.#worker.pid)
    this.#ticks = cpu === this.#cpu ? this.#ticks + 1 : 0
    this.#cpu = cpu
    if (this.#ticks >= this.#limit) this.#worker.kill(`the process stood still for ${this.#limit} s`)
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}

/** User and system time of a process, as the kernel prints them; '' where that cannot be read. */
function readProcessorTime(pid: number | undefined): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name in the second field may hold anything, even parentheses.
    return stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13)
      .join(' ')
  } catch {
    return ''
  }
}
