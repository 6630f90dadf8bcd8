import type { Log } from './observe/contract.ts'

/** A version that is waited for at exit. */
interface Draining {
  readonly plan: { readonly model: string; readonly version: string }
  readonly inflight: number
  /** Resolves when it has nothing in flight; what others ask of it afterwards is still taken. */
  settle(): Promise<void>
  /** The same, for good. */
  drain(): Promise<void>
}

export interface DrainParts {
  readonly log: Log
  /** Seconds in all. */
  readonly budget: number
  /** Versions that hold memory, those being drained included. */
  readonly live: () => readonly Draining[]
  /** Unloads everything. */
  readonly close: () => Promise<void>
}

/**
 * The end of a server (lifecycle §10): nothing new, wait for what runs, unload. One log line a second while waiting.
 * Resolves to false when the budget is spent before that.
 */
export async function drainAndClose({ log, budget, live, close }: DrainParts): Promise<boolean> {
  const end = performance.now() + budget * 1_000
  const left = () => Math.max(0, Math.round((end - performance.now()) / 1_000))
  log.write('info', 'Waiting for in-flight requests to complete.')
  const report = () => {
    const busy = live().filter(({ inflight }) => inflight > 0)
    log.write('info', `Timeout ${left()}: Found ${busy.length} model versions that have in-flight inferences`)
    for (const { plan, inflight } of busy) {
      log.write('info', `Model '${plan.model}' (version ${plan.version}) has ${inflight} in-flight inferences`)
    }
  }
  if (!(await waitUntil(drainAll(live), end, report))) return expire(log)
  log.write('info', 'All models are stopped, unloading models')
  const count = () => {
    const text = `Found ${live().length} live models and 0 in-flight non-inference requests`
    log.write('info', `Timeout ${left()}: ${text}`)
  }
  if (!(await waitUntil(close(), end, count))) return expire(log)
  if (live().length === 0) count()
  return true
}

/** A request in flight may ask models that had nothing in flight before. */
async function drainAll(live: DrainParts['live']): Promise<void> {
  do await Promise.all(live().map((version) => version.settle()))
  while (live().some(({ inflight }) => inflight > 0))
  await Promise.all(live().map((version) => version.drain()))
}

function expire(log: Log): boolean {
  log.write('error', 'Exit timeout expired. Exiting immediately.')
  return false
}

/** False when `end` (on the `performance.now()` clock) comes first. Reports at once and once a second. */
async function waitUntil(work: Promise<unknown>, end: number, report: () => void): Promise<boolean> {
  report()
  const ticker = setInterval(report, 1_000)
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), Math.max(0, end - performance.now()))
  })
  try {
    return await Promise.race([work.then(() => true), late])
  } finally {
    clearInterval(ticker)
    clearTimeout(timer)
  }
}
