import type { CacheUse, Outcome, Timings } from '../request.ts'
import type { DurationStat, EndedRequest, FailureCounts, LatencyCounts, ModelStatistics, Reporter } from './contract.ts'
import { FINE_BOUNDS, Histogram } from './histogram.ts'
import { Slowest } from './slowest.ts'
import type { Member, StageRing } from './stage-ring.ts'

const NS = 1e6

/** Sums per batch size; nanoseconds. */
interface BatchSums {
  readonly rows: number
  count: number
  input: number
  infer: number
  output: number
}

/** What a summary or another observer of single values gets; microseconds. */
export interface Observer {
  request(total: number, queue: number): void
  compute(input: number, infer: number, output: number): void
  cache(hit: boolean, duration: number): void
}

export interface RecorderParts {
  readonly model: string
  readonly version: string
  /** Summaries, where they are switched on. */
  readonly observer: Observer | undefined
  /** Time to the first response, milliseconds, where it is switched on. */
  readonly firstResponse: Histogram | undefined
  /** Where requests are written down. */
  readonly stages?: StageRing
  readonly onClose: (recorder: Recorder) => void
}

/**
 * The numbers of one loaded version: plain fields, written on the hot path, read by statistics, metrics and the console.
 * Sums are nanoseconds and may hold fractions; readers round.
 */
export class Recorder implements Reporter {
  readonly parts: RecorderParts
  readonly failures: FailureCounts = { REJECTED: 0, CANCELED: 0, BACKEND: 0, OTHER: 0 }
  readonly total = new Histogram(FINE_BOUNDS)
  readonly queue = new Histogram(FINE_BOUNDS)
  readonly input = new Histogram(FINE_BOUNDS)
  readonly infer = new Histogram(FINE_BOUNDS)
  readonly output = new Histogram(FINE_BOUNDS)
  successes = 0
  successNs = 0
  fails = 0
  failNs = 0
  queueNs = 0
  inputNs = 0
  inferNs = 0
  outputNs = 0
  inferences = 0
  executions = 0
  hits = 0
  hitNs = 0
  misses = 0
  missNs = 0
  /** On the clock of the stamps; 0 = never. */
  lastExecution = 0
  waiting = 0
  loadSeconds = 0
  readonly #batches = new Map<number, BatchSums>()
  readonly #member: Member

  constructor(parts: RecorderParts) {
    this.parts = parts
    this.#member = parts.stages?.join(parts) ?? { name: parts, slowest: new Slowest() }
  }

  request(ended: EndedRequest, outcome: Outcome): void {
    const { timings, rows, firstResponse, cache } = ended
    this.parts.stages?.add(this.#member, ended, outcome)
    const total = timings.end - timings.start
    if (firstResponse !== 0) this.parts.firstResponse?.observe(Math.floor(firstResponse - timings.start))
    if (outcome !== 'success') {
      this.#fail(total, outcome)
      return
    }
    if (cache !== undefined) {
      this.#useCache(cache)
      if (cache.hit) {
        this.#succeed(total, timings.computeStart - timings.queued)
        return
      }
    }
    const queue = timings.computeStart - timings.queued
    const input = timings.computeInputEnd - timings.computeStart
    const infer = timings.computeOutputStart - timings.computeInputEnd
    const output = timings.computeEnd - timings.computeOutputStart
    this.#succeed(total, queue)
    this.inferences += rows > 0 ? rows : 1
    this.inputNs += input * NS
    this.inferNs += infer * NS
    this.outputNs += output * NS
    this.input.observe(input * 1e3)
    this.infer.observe(infer * 1e3)
    this.output.observe(output * 1e3)
    this.parts.observer?.compute(Math.floor(input * 1e3), Math.floor(infer * 1e3), Math.floor(output * 1e3))
  }

  /** What requests from the cache are counted in as well. */
  #succeed(total: number, queue: number): void {
    this.successes += 1
    this.successNs += total * NS
    this.queueNs += queue * NS
    this.total.observe(total * 1e3)
    this.queue.observe(queue * 1e3)
    this.parts.observer?.request(Math.floor(total * 1e3), Math.floor(queue * 1e3))
  }

  #useCache({ hit, ms }: CacheUse): void {
    if (hit) {
      this.hits += 1
      this.hitNs += ms * NS
    } else {
      this.misses += 1
      this.missNs += ms * NS
    }
    this.parts.observer?.cache(hit, Math.floor(ms * 1e3))
  }

  #fail(total: number, outcome: Outcome): void {
    this.fails += 1
    this.failNs += total * NS
    if (outcome === 'rejected') this.failures.REJECTED += 1
    else if (outcome === 'cancelled') this.failures.CANCELED += 1
    else if (outcome === 'backend') this.failures.BACKEND += 1
    else this.failures.OTHER += 1
  }

  execution(
    timings: Pick<Timings, 'computeStart' | 'computeInputEnd' | 'computeOutputStart' | 'computeEnd'>,
    rows: number,
  ): void {
    this.executions += 1
    this.lastExecution = timings.computeEnd
    let batch = this.#batches.get(rows)
    if (batch === undefined) {
      batch = { rows, count: 0, input: 0, infer: 0, output: 0 }
      this.#batches.set(rows, batch)
    }
    batch.count += 1
    batch.input += (timings.computeInputEnd - timings.computeStart) * NS
    batch.infer += (timings.computeOutputStart - timings.computeInputEnd) * NS
    batch.output += (timings.computeEnd - timings.computeOutputStart) * NS
  }

  pending(delta: 1 | -1): void {
    this.waiting += delta
  }

  loaded(seconds: number): void {
    this.loadSeconds = seconds
  }

  latency(): LatencyCounts {
    return this.total.read()
  }

  close(): void {
    this.parts.stages?.leave(this.#member)
    this.parts.onClose(this)
  }

  get statistics(): ModelStatistics {
    const count = this.successes
    const computed = count - this.hits
    return {
      name: this.parts.model,
      version: this.parts.version,
      last_inference: this.lastExecution === 0 ? 0 : toDate(this.lastExecution),
      inference_count: this.inferences,
      execution_count: this.executions,
      inference_stats: {
        success: stat(count, this.successNs),
        fail: stat(this.fails, this.failNs),
        queue: stat(count, this.queueNs),
        compute_input: stat(computed, this.inputNs),
        compute_infer: stat(computed, this.inferNs),
        compute_output: stat(computed, this.outputNs),
        cache_hit: stat(this.hits, this.hitNs),
        cache_miss: stat(this.misses, this.missNs),
      },
      response_stats: {},
      batch_stats: [...this.#batches.values()]
        .toSorted((a, b) => a.rows - b.rows)
        .map(({ rows, count: runs, input, infer, output }) => ({
          batch_size: rows,
          compute_input: stat(runs, input),
          compute_infer: stat(runs, infer),
          compute_output: stat(runs, output),
        })),
      memory_usage: [],
    }
  }
}

/** Milliseconds since 1970 of a stamp. Asking for the date itself would cost every execution more than all its sums. */
function toDate(stamp: number): number {
  return Math.round(performance.timeOrigin + stamp)
}

function stat(count: number, ns: number): DurationStat {
  return { count, ns: Math.round(ns) }
}
