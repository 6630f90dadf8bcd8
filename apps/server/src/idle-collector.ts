import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Milliseconds between two looks. */
const INTERVAL = 2_000
/** Share of one core up to which a process counts as idle. */
const IDLE = 0.05
/** Bytes of possible garbage from which a collection is worth its pause. */
const WORTH = 32 * 1024 * 1024
/** Bytes. A collection looks at everything that is alive; of a larger heap that would be felt even by who comes next. */
const LARGEST_HEAP = 64 * 1024 * 1024

/** What the collector is told about the process; tests tell it something else. */
export interface ProcessView {
  /** Microseconds of CPU so far. */
  cpu(): number
  heap(): { readonly used: number; readonly external: number }
  collect(): void
}

/**
 * The memory of large tensors is freed when the collector finds them unused, and an idle process has no reason to look.
 * This one looks after a burst, once it is over: some hundred MB go back to the system then. A pause of some ten ms.
 */
export class IdleCollector {
  readonly #view: ProcessView
  readonly #timer: NodeJS.Timeout
  #cpu: number
  /** Bytes that were alive after the last collection. */
  #floor: number

  constructor(view: ProcessView = OWN_PROCESS) {
    this.#view = view
    this.#cpu = view.cpu()
    this.#floor = sizeOf(view)
    this.#timer = setInterval(() => this.#look(), INTERVAL).unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #look(): void {
    const before = this.#cpu
    this.#cpu = this.#view.cpu()
    if (this.#cpu - before > INTERVAL * 1_000 * IDLE) return
    const size = sizeOf(this.#view)
    this.#floor = Math.min(this.#floor, size)
    if (size - this.#floor < WORTH || this.#view.heap().used > LARGEST_HEAP) return
    this.#view.collect()
    this.#floor = sizeOf(this.#view)
    this.#cpu = this.#view.cpu()
  }
}

function sizeOf(view: ProcessView): number {
  const { used, external } = view.heap()
  return used + external
}

let collectGarbage: (() => void) | undefined

const OWN_PROCESS: ProcessView = {
  cpu: () => {
    const { user, system } = process.cpuUsage()
    return user + system
  },
  heap: () => {
    const { used_heap_size: used, external_memory: external } = getHeapStatistics()
    return { used, external }
  },
  collect: () => {
    if (collectGarbage === undefined) {
      setFlagsFromString('--expose-gc')
      collectGarbage = runInNewContext('gc') as () => void
    }
    collectGarbage()
  },
}
