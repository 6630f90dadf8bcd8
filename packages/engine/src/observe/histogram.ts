import type { LatencyCounts } from './contract.ts'

/** 10 µs to 50 s, six steps a decade: fine enough to read percentiles off. */
export const FINE_BOUNDS: readonly number[] = spread([1, 1.5, 2, 3, 5, 7], 1, 7)
/** The bounds that Prometheus sees, microseconds; each is one of the fine ones. */
export const COARSE_BOUNDS: readonly number[] = FINE_BOUNDS.filter(
  (bound) => bound >= 50 && bound <= 1e7 && isCoarse(bound),
)

function spread(steps: readonly number[], from: number, to: number): number[] {
  const bounds: number[] = []
  for (let power = from; power <= to; power++) for (const step of steps) bounds.push(step * 10 ** power)
  return bounds
}

function isCoarse(bound: number): boolean {
  const first = bound / 10 ** Math.floor(Math.log10(bound) + 1e-9)
  return [1, 2, 5].some((step) => Math.abs(first - step) < 1e-6)
}

/** Counts of observations per bucket. Observing costs one binary search and two additions. */
export class Histogram {
  readonly bounds: readonly number[]
  readonly counts: Float64Array
  sum = 0

  constructor(bounds: readonly number[]) {
    this.bounds = bounds
    this.counts = new Float64Array(bounds.length + 1)
  }

  /** A value equal to a bound belongs to that bound's bucket. */
  observe(value: number): void {
    let low = 0
    let high = this.bounds.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (value <= (this.bounds[middle] ?? Infinity)) high = middle
      else low = middle + 1
    }
    this.counts[low] = (this.counts[low] ?? 0) + 1
    this.sum += value
  }

  get count(): number {
    return this.counts.reduce((total, count) => total + count, 0)
  }

  read(): LatencyCounts {
    return { bounds: this.bounds, counts: [...this.counts] }
  }
}

/** Cumulative counts at the given bounds, which are a subset of the histogram's own; the last one counts all. */
export function cumulate(histogram: Histogram, bounds: readonly number[]): readonly number[] {
  const cumulative: number[] = []
  let total = 0
  let next = 0
  for (let i = 0; i < histogram.counts.length; i++) {
    total += histogram.counts[i] ?? 0
    if (next < bounds.length && histogram.bounds[i] === bounds[next]) {
      cumulative.push(total)
      next += 1
    }
  }
  cumulative.push(total)
  return cumulative
}
