import { ConchError } from '@conch/protocol'
import type { ChildFrame } from './frames.ts'
import type { Worker } from './worker.ts'

export interface StartPlan {
  readonly instance: string
  /** Seconds until the process must have come up. */
  readonly timeout: number
  /** JSON of `init` or `complete`. */
  readonly header: string
}

type Begun = Exclude<Extract<ChildFrame, { t: 'completed' | 'ready' | 'failed' }>, { t: 'failed' }>

/** Waits for a process to come up and to do what it is for. Whatever goes wrong, the process is over. */
export async function startWorker(worker: Worker, plan: StartPlan): Promise<Begun> {
  try {
    await awaitUp(worker, plan)
    const begun = await worker.begin(plan.header)
    if (begun.t === 'failed') throw new ConchError('INTERNAL', begun.message)
    return begun
  } catch (error) {
    worker.kill('it is of no use')
    const reason = await worker.ended
    throw explainStart(error, { reason, worker, plan })
  }
}

async function awaitUp(worker: Worker, plan: StartPlan): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  try {
    await new Promise<void>((resolve, reject) => {
      const late = () =>
        reject(new ConchError('INTERNAL', notHealthy(plan.instance, `no sign of life in ${plan.timeout} s`)))
      timer = setTimeout(late, plan.timeout * 1_000)
      worker.whenUp().then(resolve, reject)
    })
  } finally {
    clearTimeout(timer)
  }
}

interface Failure {
  readonly reason: string
  readonly worker: Worker
  readonly plan: StartPlan
}

function explainStart(error: unknown, { reason, worker, plan }: Failure): unknown {
  if (error instanceof ConchError && error.message !== reason) return error
  const last = worker.lastErrors.at(-1) ?? ''
  const said = last === '' ? '' : `; it said last: ${last}`
  return new ConchError('INTERNAL', notHealthy(plan.instance, `${reason}${said}`), { cause: error })
}

/** The original's text, and why. */
export function notHealthy(instance: string, reason: string): string {
  return `Stub process '${instance}' is not healthy. Reason: ${reason}`
}
