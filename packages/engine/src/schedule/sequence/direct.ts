/** The oldest request of a slot, or undefined when the slot has nothing to run. Milliseconds on one clock. */
export interface Head {
  readonly arrivedAt: number
  /** Between two of one moment. */
  readonly order: number
}

export interface DirectLimits<H extends Head> {
  /** Milliseconds the oldest request may wait for others; 0 = not at all. */
  readonly maxDelay: number
  /** Slots with something to run that are worth running at once; 0 = any. */
  readonly enough: number
  /** False when the two cannot run together. Undefined = all can. */
  readonly fits: ((first: H, next: H) => boolean) | undefined
}

/** By place in the batch; undefined = a row that only fills its place. */
export type DirectDecision<H> = { readonly run: readonly (H | undefined)[] } | { readonly waitUntil: number }

/**
 * Which slots of an instance run next, direct strategy (sequence §3): every sequence has its row of the batch, so rows
 * below the last ready one are filled. Those that cannot run with the request that waited longest sit this batch out:
 * it will be their turn when they have waited longest.
 */
export function pickSlots<H extends Head>(
  heads: readonly (H | undefined)[],
  limits: DirectLimits<H>,
  now: number,
): DirectDecision<H> {
  let first: H | undefined
  let ready = 0
  for (const head of heads) {
    if (head === undefined) continue
    ready += 1
    if (first === undefined || isBefore(head, first)) first = head
  }
  if (first === undefined) return { waitUntil: Infinity }
  const { maxDelay, enough, fits } = limits
  const due = first.arrivedAt + maxDelay
  if (maxDelay > 0 && ready < enough && now < due) return { waitUntil: due }
  const reference = first
  const run = heads.map((head) =>
    head === undefined || fits === undefined || fits(reference, head) ? head : undefined,
  )
  return { run: run.slice(0, run.findLastIndex((head) => head !== undefined) + 1) }
}

function isBefore(a: Head, b: Head): boolean {
  return a.arrivedAt === b.arrivedAt ? a.order < b.order : a.arrivedAt < b.arrivedAt
}
