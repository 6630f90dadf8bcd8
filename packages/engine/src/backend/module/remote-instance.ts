import { ConchError } from '@conch/protocol'
import type { BackendInstance, Batch, BatchAnswers, InstanceSpec } from '../contract.ts'
import type { Created, Executed, Executing } from './bodies.ts'
import type { Child } from './child.ts'
import type { Origin } from './locate.ts'
import type { RemoteRequests } from './remote-requests.ts'
import { receiveError } from './wire.ts'

/** How long a batch may go on after everybody who waited for it has gone, milliseconds. */
const GRACE = 5_000

/** Who has the process that instances live in. */
export interface InstanceOwner {
  readonly origin: Origin
  readonly requests: RemoteRequests
  /** Undefined while it is down. */
  readonly child: Child | undefined
  readonly restarts: number
  readonly lastExit: string | undefined
  leave(instance: RemoteInstance): void
}

/** The server's half of one instance. Not healthy while its process is down. */
export class RemoteInstance implements BackendInstance {
  readonly spec: InstanceSpec
  onHealth: ((healthy: boolean) => void) | undefined = undefined
  checkReady?: () => Promise<void>
  readonly #model: InstanceOwner
  #remote = -1
  #healthy = false
  #closed = false

  constructor(model: InstanceOwner, spec: InstanceSpec) {
    this.#model = model
    this.spec = spec
  }

  get healthy(): boolean {
    return this.#healthy
  }

  get process() {
    const { child, restarts, lastExit } = this.#model
    return child?.pid === undefined ? undefined : { pid: child.pid, restarts, lastExit }
  }

  /** Its process is there, and it in it. */
  rise({ instance, checksReady }: Created): void {
    this.#remote = instance
    if (checksReady) this.checkReady = async () => void (await this.#child.wire.ask('ready', this.#remote))
    this.#turn(true)
  }

  fall(): void {
    this.#turn(false)
  }

  #turn(healthy: boolean): void {
    if (this.#healthy === healthy) return
    this.#healthy = healthy
    this.onHealth?.(healthy)
  }

  get #child(): Child {
    const { child, lastExit, origin } = this.#model
    if (child !== undefined) return child
    throw new ConchError('UNAVAILABLE', `the process of backend '${origin.name}' is down: ${lastExit ?? ''}`)
  }

  async execute(batch: Batch): Promise<BatchAnswers> {
    const child = this.#child
    const { requests } = this.#model
    const began = performance.now()
    const sent = batch.requests.map((active) => {
      const { request, rows, chain } = active
      return { q: requests.add(active), request, rows, chain: [...chain] }
    })
    const watched = batch.requests.map((active, at) => this.#watch(active.signal, sent[at]?.q ?? 0, child))
    const watch = this.#limit(batch, child)
    let keeps = (_at: number) => false
    try {
      const body: Executing = { instance: this.#remote, requests: sent, rows: batch.rows, outputs: [...batch.outputs] }
      const done = (await child.wire.ask('execute', body, batch.signal)) as Executed
      batch.computeInputEnd = began + done.inputEnd
      batch.computeOutputStart = began + done.outputStart
      const { answers } = done
      keeps = (at) => answers === 'responded' || answers[at] === 'responded'
      if (answers === 'responded') return answers
      return answers.map((one) =>
        typeof one === 'object' && 'error' in one ? { error: receiveError(one.error) } : one,
      )
    } finally {
      watch.end()
      for (const [at, { q }] of sent.entries()) {
        if (keeps(at)) continue
        watched[at]?.()
        requests.delete(q)
      }
    }
  }

  /** Tells the child when the client of a request has gone. Returns how to stop that. */
  #watch(signal: AbortSignal | undefined, q: number, child: Child): () => void {
    if (signal === undefined) return () => undefined
    const tell = () => child.wire.note('gone', q)
    signal.addEventListener('abort', tell, { once: true })
    return () => signal.removeEventListener('abort', tell)
  }

  /** Ends the process when a batch takes longer than it may, or does not stop when nobody waits for it. */
  #limit({ signal }: Batch, child: Child): { end(): void } {
    const { executionTimeoutMs } = this.#model.origin.settings
    const timers: NodeJS.Timeout[] = []
    const killIn = (ms: number, reason: string) => void timers.push(setTimeout(() => child.kill(reason), ms))
    if (executionTimeoutMs > 0) {
      killIn(executionTimeoutMs, `a batch took longer than execution_timeout_ms, ${executionTimeoutMs} ms`)
    }
    const abort = () => killIn(GRACE, `a batch did not stop within ${GRACE / 1_000} s after its clients had gone`)
    signal?.addEventListener('abort', abort, { once: true })
    return {
      end: () => {
        signal?.removeEventListener('abort', abort)
        for (const timer of timers) clearTimeout(timer)
      },
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    await this.#model.requests.drain()
    this.#model.leave(this)
    await this.#model.child?.wire.ask('close', this.#remote).catch(() => undefined)
  }
}
