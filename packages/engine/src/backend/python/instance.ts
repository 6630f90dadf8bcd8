import { ConchError } from '@conch/protocol'
import type { BackendInstance, Batch, BatchAnswers, EngineCalls } from '../contract.ts'
import { BackOff } from '../back-off.ts'
import { CancelWatch } from './cancel-watch.ts'
import { ModelCalls } from './model-calls.ts'
import { ReadyCheck } from './ready-check.ts'
import { notHealthy, startWorker } from './start-worker.ts'
import { Watchdog } from './watchdog.ts'
import { Worker } from './worker.ts'
import type { WorkerPlan } from './worker.ts'

export interface InstancePlan {
  readonly worker: Omit<WorkerPlan, 'onCall'>
  readonly engine: EngineCalls
  /** JSON of `init`. */
  readonly init: string
  /** Seconds for coming up, finishing and standing still. */
  readonly stubTimeout: number
  /** Milliseconds for one execution; 0 = any time. */
  readonly executionTimeout: number
}

/** One process that is there, and since when. */
interface Life {
  readonly worker: Worker
  readonly readySince: number
}

/** An instance of a Python model: one child process at a time, started again when it ends by itself. */
export class PythonInstance implements BackendInstance {
  onHealth: ((healthy: boolean) => void) | undefined = undefined
  /** Only models that have an `is_ready` have it. */
  checkReady?: () => Promise<void>
  readonly #plan: InstancePlan
  readonly #backOff = new BackOff()
  readonly #cancels = new CancelWatch()
  #life: Life | undefined = undefined
  /** A process that is being started. */
  #starting: Worker | undefined = undefined
  #timer: NodeJS.Timeout | undefined = undefined
  #restarts = 0
  #lastExit: string | undefined = undefined
  #closed: Promise<void> | undefined = undefined

  /** Resolves when the model is initialised. */
  static async open(plan: InstancePlan): Promise<PythonInstance> {
    const instance = new PythonInstance(plan)
    await instance.#start()
    return instance
  }

  private constructor(plan: InstancePlan) {
    this.#plan = plan
  }

  get healthy(): boolean {
    return this.#life !== undefined
  }

  get process() {
    const pid = this.#life?.worker.pid
    return pid === undefined ? undefined : { pid, restarts: this.#restarts, lastExit: this.#lastExit }
  }

  execute(batch: Batch): Promise<BatchAnswers> {
    const { worker: plan, executionTimeout } = this.#plan
    const worker = this.#life?.worker
    if (worker === undefined) {
      return Promise.reject(new ConchError('UNAVAILABLE', notHealthy(plan.instance, this.#lastExit ?? 'it is closed')))
    }
    const answers = worker.run(batch)
    this.#cancels.watch(worker, batch)
    return executionTimeout > 0 ? this.#limit(answers, worker) : answers
  }

  async #limit(answers: Promise<BatchAnswers>, worker: Worker): Promise<BatchAnswers> {
    const { executionTimeout } = this.#plan
    const kill = () => worker.kill(`an execution took longer than ${executionTimeout} ms, and was ended`)
    const timer = setTimeout(kill, executionTimeout)
    try {
      return await answers
    } finally {
      clearTimeout(timer)
    }
  }

  async #start(): Promise<void> {
    const { worker: plan, engine, init, stubTimeout } = this.#plan
    const calls = new ModelCalls(engine, plan.model)
    const worker = new Worker({ ...plan, onCall: (frame, call) => calls.receive(frame, call) })
    const watchdog = new Watchdog(worker, stubTimeout)
    const ended = worker.ended.then((reason) => {
      watchdog.stop()
      calls.close()
      return reason
    })
    this.#starting = worker
    try {
      const { instance } = plan
      const begun = await startWorker(worker, { instance, timeout: stubTimeout, header: init })
      if (begun.t === 'ready' && begun.is_ready === true) this.#offerCheck()
    } finally {
      this.#starting = undefined
    }
    this.#life = { worker, readySince: performance.now() }
    void ended.then((reason) => this.#mourn(worker, reason))
  }

  #offerCheck(): void {
    const check = new ReadyCheck(this.#plan.worker.instance, () => this.#life?.worker.check())
    this.checkReady = () => check.ask()
  }

  /** The process has ended. */
  #mourn(worker: Worker, reason: string): void {
    const life = this.#life
    this.#life = undefined
    this.#cancels.stop()
    const { instance, log } = this.#plan.worker
    const text = `Failed to process the request(s) for model instance '${instance}', message: ${notHealthy(instance, reason)}`
    if (this.#closed !== undefined) {
      worker.requests.failAll(new ConchError('INTERNAL', text))
      return
    }
    this.#lastExit = reason
    this.#backOff.ended(performance.now() - (life?.readySince ?? 0), worker.requests.answered > 0)
    const said = worker.lastErrors.map((line) => `\n    ${line}`).join('')
    log('error', `${notHealthy(instance, reason)}${said === '' ? '' : `; it said last:${said}`}`)
    this.onHealth?.(false)
    worker.requests.failAll(new ConchError('INTERNAL', text))
    this.#scheduleStart()
  }

  #scheduleStart(): void {
    this.#timer = setTimeout(() => void this.#restart(), this.#backOff.delay)
  }

  async #restart(): Promise<void> {
    const { instance, log } = this.#plan.worker
    this.#timer = undefined
    try {
      await this.#start()
    } catch (error) {
      if (this.#closed !== undefined) return
      this.#backOff.failed()
      const wait = this.#backOff.delay / 1_000
      log('error', `instance '${instance}' cannot be started again, next try in ${wait} s: ${(error as Error).message}`)
      this.#scheduleStart()
      return
    }
    this.#restarts += 1
    log('info', `instance '${instance}' was started again`)
    this.onHealth?.(true)
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    clearTimeout(this.#timer)
    this.#cancels.stop()
    this.#starting?.kill('it is not needed any more')
    await this.#starting?.ended
    const worker = this.#life?.worker
    if (worker === undefined) return
    worker.stop()
    const late = () => worker.kill(`it did not finish within ${this.#plan.stubTimeout} s`)
    const timer = setTimeout(late, this.#plan.stubTimeout * 1_000)
    await worker.ended
    clearTimeout(timer)
  }
}
