export type BulkVerb = 'load' | 'unload' | 'reload'
export type BulkState = 'waiting' | 'working' | 'done' | 'failed' | 'skipped'

export interface BulkItem {
  readonly model: string
  readonly state: BulkState
  /** Why it failed. */
  readonly reason: string
}
export interface BulkRun {
  readonly verb: BulkVerb
  readonly items: readonly BulkItem[]
}
export interface BulkCounts {
  readonly finished: number
  readonly failed: number
  readonly total: number
  readonly over: boolean
}

/** Models worked on at the same time: loading is heavy, and the others wait their turn. */
const AT_ONCE = 3

export function startBulk(verb: BulkVerb, models: readonly string[]): BulkRun {
  return { verb, items: models.map((model) => ({ model, state: 'waiting', reason: '' })) }
}

export function countBulk(run: BulkRun): BulkCounts {
  const open = run.items.filter((item) => item.state === 'waiting' || item.state === 'working').length
  const failed = run.items.filter((item) => item.state === 'failed').length
  return { finished: run.items.length - open, failed, total: run.items.length, over: open === 0 }
}

export function markItem(run: BulkRun, model: string, change: Omit<BulkItem, 'model'>): BulkRun {
  return { ...run, items: run.items.map((item) => (item.model === model ? { model, ...change } : item)) }
}

interface BulkWork {
  readonly work: (model: string) => Promise<string | null>
  readonly onChange: (run: BulkRun) => void
  readonly signal: AbortSignal
}

/** Works through the run. `work` answers null, or why it failed. What has not begun when the signal comes is skipped. */
export async function runBulk(start: BulkRun, { work, onChange, signal }: BulkWork): Promise<BulkRun> {
  let run = start
  const mark = (model: string, state: BulkState, reason = '') => {
    run = markItem(run, model, { state, reason })
    onChange(run)
  }
  const queue = start.items.map((item) => item.model)
  const lane = async () => {
    for (let model = queue.shift(); model !== undefined; model = queue.shift()) {
      if (signal.aborted) {
        mark(model, 'skipped')
        continue
      }
      mark(model, 'working')
      const reason = await work(model)
      mark(model, reason === null ? 'done' : 'failed', reason ?? '')
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
  return run
}
