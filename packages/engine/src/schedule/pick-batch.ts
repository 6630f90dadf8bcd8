/** What the dynamic batcher knows when it must decide. Times are milliseconds on one clock. */
export interface Candidate {
  readonly rows: number
  readonly arrivedAt: number
}

export interface BatchLimits<C extends Candidate> {
  /** Upper bound of a batch's rows. */
  readonly maxRows: number
  /** Ascending or not; empty counts as `[maxRows]`. */
  readonly preferredRows: ReadonlySet<number>
  /** Milliseconds the oldest request may wait for a better batch. */
  readonly maxDelay: number
  /** False when the two cannot run together: other shapes, other optional inputs. Undefined = all can. */
  readonly fits: ((first: C, next: C) => boolean) | undefined
}

export type BatchDecision = { readonly take: number } | { readonly waitUntil: number }

/**
 * Decides how many requests from the head of the queue form the next batch; an instance is free. Follows the original
 * step by step (reference: dynamic batching §3): a preferred size wins while the delay is not used up, then whatever can
 * grow no further, then whatever waited long enough.
 *
 * Never reorders: a later small request may not overtake an earlier large one.
 */
export function pickBatch<C extends Candidate>(
  queue: readonly C[],
  limits: BatchLimits<C>,
  now: number,
): BatchDecision {
  const head = queue[0]
  if (head === undefined) return { waitUntil: Infinity }
  const { rows, count, best, closed, oldest } = walkQueue(queue, head, limits)
  const age = now - oldest
  const late = limits.maxDelay !== 0 && age >= limits.maxDelay
  if (best > 0 && !late) return { take: best }
  if (closed || rows >= largestPreferred(limits)) return { take: count }
  if (late || limits.maxDelay === 0) return { take: count }
  return { waitUntil: oldest + limits.maxDelay }
}

/** How far a batch can grow from the head, and the last point worth stopping at (0 = none). */
function walkQueue<C extends Candidate>(queue: readonly C[], head: C, limits: BatchLimits<C>) {
  const { maxRows, preferredRows, fits } = limits
  const largest = largestPreferred(limits)
  let rows = 0
  let count = 0
  let best = 0
  // Of higher priority is not always older.
  let oldest = head.arrivedAt
  for (const next of queue) {
    const grown = rows + next.rows
    if (count > 0) {
      if (grown > largest && best === 0) best = count
      if (grown > maxRows || (fits !== undefined && !fits(head, next)))
        return { rows, count, best, closed: true, oldest }
    }
    rows = grown
    count += 1
    oldest = Math.min(oldest, next.arrivedAt)
    if (preferredRows.has(rows)) best = count
  }
  return { rows, count, best, closed: false, oldest }
}

function largestPreferred<C extends Candidate>({ preferredRows, maxRows }: BatchLimits<C>): number {
  return preferredRows.size === 0 ? maxRows : Math.max(...preferredRows)
}
