/** Parts of a window: old requests leave it in steps of a tenth. */
const PARTS = 10
/** Upper bounds of latency, milliseconds: 12 to every factor of ten, so that a percentile is right within a fifth. */
const BOUNDS = Array.from({ length: 97 }, (_, i) => 10 ** (i / 12 - 3))

interface Part {
  /** Which part of time this is; parts that are too old count nothing. */
  number: number
  requests: number
  failures: number
  readonly latencies: Uint32Array
}

/** What happened within the last seconds. Times are milliseconds on one clock. */
export class RollingWindow {
  readonly #partMs: number
  readonly #parts: Part[] = Array.from({ length: PARTS }, () => ({
    number: -1,
    requests: 0,
    failures: 0,
    latencies: new Uint32Array(BOUNDS.length + 1),
  }))

  constructor(windowMs: number) {
    this.#partMs = windowMs / PARTS
  }

  /** `latency`: milliseconds of a request that succeeded; undefined = it failed. */
  add(latency: number | undefined, now: number): void {
    const part = this.#open(now)
    part.requests += 1
    if (latency === undefined) part.failures += 1
    else {
      const bucket = bucketOf(latency)
      part.latencies[bucket] = (part.latencies[bucket] ?? 0) + 1
    }
  }

  read(now: number): { readonly requests: number; readonly failures: number } {
    let requests = 0
    let failures = 0
    for (const part of this.#recent(now)) {
      requests += part.requests
      failures += part.failures
    }
    return { requests, failures }
  }

  /** How many succeeded, and how many of them took longer than `ms` for sure. */
  countSlow(ms: number, now: number): { readonly total: number; readonly slow: number } {
    // The bucket that holds `ms` has both kinds.
    const from = bucketOf(ms) + 1
    let total = 0
    let slow = 0
    for (const { latencies } of this.#recent(now)) {
      for (const [bucket, count] of latencies.entries()) {
        total += count
        if (bucket >= from) slow += count
      }
    }
    return { total, slow }
  }

  /** Upper bound of a percentile of latency, milliseconds; 0 = nothing succeeded. */
  percentile(percent: number, now: number): number {
    const sums = new Float64Array(BOUNDS.length + 1)
    let total = 0
    for (const { latencies } of this.#recent(now)) {
      for (const [bucket, count] of latencies.entries()) {
        sums[bucket] = (sums[bucket] ?? 0) + count
        total += count
      }
    }
    let left = (total * percent) / 100
    for (const [bucket, count] of sums.entries()) {
      left -= count
      if (count > 0 && left <= 0) return BOUNDS[bucket] ?? Infinity
    }
    return 0
  }

  #open(now: number): Part {
    const number = Math.floor(now / this.#partMs)
    const part = this.#parts[number % PARTS] as Part
    if (part.number !== number) {
      part.number = number
      part.requests = 0
      part.failures = 0
      part.latencies.fill(0)
    }
    return part
  }

  #recent(now: number): readonly Part[] {
    const newest = Math.floor(now / this.#partMs)
    return this.#parts.filter(({ number }) => number > newest - PARTS && number <= newest)
  }
}

function bucketOf(ms: number): number {
  let low = 0
  let high = BOUNDS.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (ms <= (BOUNDS[middle] ?? Infinity)) high = middle
    else low = middle + 1
  }
  return low
}
