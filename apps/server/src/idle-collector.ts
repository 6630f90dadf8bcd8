import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { trimMemory } from '@conch/engine'

/** Milliseconds between two looks. */
const INTERVAL = 2_000
/** Share of one core up to which a process counts as idle. */
const IDLE = 0.05
/** Bytes of growth from which a collection is worth its pause. */
const WORTH = 32 * 1024 * 1024
/** Bytes. A collection looks at everything that is alive; of a larger heap that would be felt by who comes next. */
const LARGEST_HEAP = 64 * 1024 * 1024

/** The process as the collector sees it; tests show it another. */
export interface ProcessView {
  /** Microseconds of CPU so far. */
  cpu(): number
  /** Bytes of the JavaScript heap, and of memory that is resident. */
  heap(): number
  resident(): number
  collect(): void
  trim(): void
}

/**
 * The memory of large tensors is freed when the collector finds them unused, and an idle process has no reason to look;
 * what is freed stays with the allocator, in pieces. This one looks once a burst is over: some hundred MB go back to the
 * system then, for a pause of some ten ms when nobody is there.
 */
export class IdleCollector {
  readonly #view: ProcessView
  readonly #timer: NodeJS.Timeout
  #cpu: number
  /** Resident bytes that are taken for granted: the least that was seen, or what a collection has left. */
  #floor: number
  #next: 'look' | 'trim' | 'settle' = 'look'

  constructor(view: ProcessView = OWN_PROCESS) {
    this.#view = view
    this.#cpu = view.cpu()
    this.#floor = view.resident()
    this.#timer = setInterval(() => this.#step(), INTERVAL).unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** Collected memory is freed on other threads, and trimmed there: each gets its time. */
  #step(): void {
    const before = this.#cpu
    this.#cpu = this.#view.cpu()
    if (this.#next === 'trim') {
      this.#view.trim()
      this.#next = 'settle'
    } else if (this.#next === 'settle') {
      this.#floor = this.#view.resident()
      this.#next = 'look'
    } else if (this.#cpu - before <= INTERVAL * 1_000 * IDLE) this.#look()
  }

  #look(): void {
    const resident = this.#view.resident()
    this.#floor = Math.min(this.#floor, resident)
    if (resident - this.#floor < WORTH || this.#view.heap() > LARGEST_HEAP) return
    this.#view.collect()
    this.#next = 'trim'
  }
}

let collectGarbage: (() => void) | undefined

const OWN_PROCESS: ProcessView = {
  cpu: () => {
    const { user, system } = process.cpuUsage()
    return user + system
  },
  heap: () => getHeapStatistics().used_heap_size,
  resident: () => process.memoryUsage.rss(),
  collect: () => {
    if (collectGarbage === undefined) {
      setFlagsFromString('--expose-gc')
      collectGarbage = runInNewContext('gc') as () => void
    }
    collectGarbage()
  },
  trim: trimMemory,
}
