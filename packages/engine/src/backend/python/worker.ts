import { ConchError } from '@conch/protocol'
import type { Tensor } from '@conch/protocol'
import type { Batch, BatchAnswers } from '../contract.ts'
import { Channel } from './channel.ts'
import { ChildProcess } from './child-process.ts'
import { RequestEncoder } from './encode-request.ts'
import { toError } from './frames.ts'
import type { CallFrame, ChildFrame } from './frames.ts'
import { Cargo, RequestArena } from './request-arena.ts'
import { Requests } from './requests.ts'
import type { LiveRequest, ModelFacts } from './requests.ts'
import { Harvest, ResponseArena } from './response-arena.ts'

export interface WorkerPlan extends ModelFacts {
  readonly python: string
  readonly env: Readonly<Record<string, string>>
  readonly inputs: readonly string[]
  /** First size and growth of the memory for tensors, bytes. */
  readonly memory: { readonly size: number; readonly growth: number }
  readonly log: (level: LogLevel, text: string) => void
  /** What the model asks of the engine. */
  readonly onCall: (frame: CallFrame, call: IncomingCall) => void
}

/** What belongs to a call of a model. */
export interface IncomingCall {
  readonly worker: Worker
  readonly harvest: Harvest
  /** Valid during the call only. */
  readonly payload: Buffer
}

type LogLevel = 'verbose' | 'info' | 'warning' | 'error'
const LEVELS = new Set<string>(['verbose', 'info', 'warning', 'error'])

type Of<T extends ChildFrame['t']> = Extract<ChildFrame, { readonly t: T }>
/** What a child may answer when it is told to complete or to begin. */
type Beginning = Of<'completed'> | Of<'ready'> | Of<'failed'>

interface Waiter<T> {
  resolve(value: T): void
  reject(error: unknown): void
}

/** One life of one child process: the conversation with it, and the memory shared with it. */
export class Worker {
  readonly requests: Requests
  readonly #plan: WorkerPlan
  readonly #arena: RequestArena
  readonly #responses: ResponseArena
  readonly #encoder: RequestEncoder
  readonly #channel: Channel
  readonly #process: ChildProcess
  readonly #checks = new Map<number, Waiter<unknown>>()
  #nextCheck = 1
  /** Why there is nobody to talk to any more. */
  #gone: ConchError | undefined = undefined
  #beginning: Waiter<Beginning> | undefined = undefined
  #up: Waiter<void> | undefined = undefined
  /** Frames that wait for their tensors to be copied: the memory of these must not be given up before. */
  readonly #shipping = new Set<Promise<void>>()
  /** What waits for large copies, in the order in which it came. */
  #tail: Promise<void> | undefined = undefined
  /** Resolves with the reason when the process has ended and everything that it sent was read. Never rejects. */
  readonly ended: Promise<string>

  constructor(plan: WorkerPlan) {
    this.#plan = plan
    this.requests = new Requests(plan)
    const opened: { close(): void }[] = []
    try {
      this.#arena = keep(opened, new RequestArena(plan.memory.size, plan.memory.growth))
      this.#responses = keep(opened, new ResponseArena(plan.memory.size))
      this.#encoder = new RequestEncoder(this.#arena, { inputs: plan.inputs, outputs: [...plan.outputs] })
      const silence = Promise.withResolvers<void>()
      this.#channel = keep(
        opened,
        new Channel({
          onFrame: (header, payload) => this.#receive(header as ChildFrame, payload),
          onEnd: (breach) => {
            if (breach !== undefined) this.kill(`it broke the rules of the conversation: ${breach.message}`)
            silence.resolve()
          },
        }),
      )
      this.#process = this.#spawn()
      this.ended = this.#watch(silence.promise)
    } catch (error) {
      for (const one of opened) one.close()
      throw error
    }
  }

  #spawn(): ChildProcess {
    const { python, env, log, instance } = this.#plan
    const child = new ChildProcess({
      python,
      env,
      descriptors: [this.#channel.childDescriptor, this.#arena.descriptor, this.#responses.descriptor],
      onLine: (line) => log('info', `[${instance}] ${line}`),
    })
    this.#channel.closeChildEnd()
    return child
  }

  async #watch(silence: Promise<void>): Promise<string> {
    const reason = await this.#process.ended
    // What it wrote before it ended is still to be read; a descendant that lives on could keep the line open.
    await Promise.race([silence, pause(SILENCE_AFTER)])
    await this.#tail
    await Promise.all(this.#shipping)
    this.#channel.close()
    this.#arena.close()
    this.#responses.close()
    const gone = new ConchError('INTERNAL', reason)
    this.#gone = gone
    this.#up?.reject(gone)
    this.#beginning?.reject(gone)
    for (const check of this.#checks.values()) check.reject(gone)
    return reason
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  get lastErrors(): readonly string[] {
    return this.#process.lastErrors
  }

  heartbeat(): bigint {
    return this.#responses.heartbeat()
  }

  /** Resolves when the process runs and has what it needs. */
  whenUp(): Promise<void> {
    if (this.#gone !== undefined) return Promise.reject(this.#gone)
    return new Promise((resolve, reject) => (this.#up = { resolve, reject }))
  }

  /** Has it run `complete` or `init`. Rejects when it ends meanwhile. */
  begin(header: string): Promise<Beginning> {
    if (this.#gone !== undefined) return Promise.reject(this.#gone)
    const answer = new Promise<Beginning>((resolve, reject) => (this.#beginning = { resolve, reject }))
    this.#channel.send(header, [])
    return answer
  }

  run(batch: Batch): Promise<BatchAnswers> {
    const { b, first, answers } = this.requests.open(batch)
    const cargo = new Cargo()
    try {
      let entries = ''
      for (let i = 0; i < batch.requests.length; i++) {
        const active = batch.requests[i]
        if (active === undefined) continue
        entries += `${i === 0 ? '' : ','}${this.#encoder.encode(first + i, active, cargo)}`
      }
      this.#ship(`{"t":"run","b":${b},"r":[${entries}]`, cargo, () => (batch.computeInputEnd = performance.now()))
    } catch (error) {
      this.#unload(cargo, () => this.requests.rejectBatch(b, error))
    }
    return answers
  }

  /** A frame is not sent after all: its memory is free again when nobody copies into it any more. */
  #unload(cargo: Cargo, done: () => void): void {
    this.#whenCopied(cargo, () => {
      this.#arena.free(cargo.offsets)
      done()
    })
  }

  /** Sends a header that lacks its closing brace, once its tensors are where they are to be. */
  #ship(open: string, cargo: Cargo, sent: () => void): void {
    this.#whenCopied(cargo, () => {
      this.#launch(open, cargo)
      sent()
    })
  }

  #whenCopied(cargo: Cargo, ready: () => void): void {
    if (cargo.wait.length === 0) {
      ready()
      return
    }
    const copying = Promise.all(cargo.wait)
    const shipping = copying.then(() => {
      this.#shipping.delete(shipping)
      ready()
    })
    this.#shipping.add(shipping)
  }

  #launch(open: string, cargo: Cargo): void {
    const grown = this.#arena.takeGrowth()
    this.#channel.send(grown === undefined ? `${open}}` : `${open},"arena":${grown}}`, cargo.parts)
  }

  #receive(frame: ChildFrame, payload: Buffer): void {
    if (frame.arena !== undefined) this.#responses.follow(frame.arena)
    if (frame.t === 'done') this.#receiveDone(frame, payload)
    else if (frame.t === 'send') this.#receiveSend(frame, payload)
    else if (frame.t === 'free') this.#arena.free(frame.o)
    else if (frame.t === 'call') this.#plan.onCall(frame, { worker: this, harvest: this.harvest(payload), payload })
    else this.#receiveRest(frame)
  }

  #receiveRest(frame: Exclude<ChildFrame, Of<'done'> | Of<'send'> | Of<'free'> | Of<'call'>>): void {
    switch (frame.t) {
      case 'dropped':
        return this.after(undefined, () => this.requests.drop(frame.q))
      case 'log':
        return this.#plan.log(LEVELS.has(frame.level) ? (frame.level as LogLevel) : 'info', frame.text)
      case 'reply':
        return this.#receiveReply(frame)
      case 'up':
        return this.#up?.resolve()
      case 'completed':
      case 'ready':
      case 'failed':
        return this.#receiveBeginning(frame)
      case 'bye':
        return
      default:
        throw new Error(`a frame of unknown type '${String((frame as { t?: unknown }).t)}'`)
    }
  }

  #receiveDone(frame: Of<'done'>, payload: Buffer): void {
    const { b, error } = frame
    if (error !== undefined && error !== null) {
      this.after(undefined, () => this.requests.failBatch(b, error))
      return
    }
    const harvest = this.harvest(payload)
    this.after(harvest, this.requests.readDone(b, frame.r ?? [], harvest))
  }

  #receiveSend(frame: Of<'send'>, payload: Buffer): void {
    const harvest = this.harvest(payload)
    const deliver = this.requests.readSend(frame.q, frame.response, harvest)
    this.after(harvest, () => deliver(frame.final === true))
  }

  #receiveBeginning(frame: Beginning): void {
    if (this.#beginning !== undefined) this.#beginning.resolve(frame)
    else if (frame.t === 'failed') this.#up?.reject(new ConchError('INTERNAL', frame.message))
  }

  #receiveReply({ c, value, error }: Of<'reply'>): void {
    const check = this.#checks.get(c)
    this.#checks.delete(c)
    if (error === undefined || error === null) check?.resolve(value)
    else check?.reject(toError(error))
  }

  harvest(payload: Buffer): Harvest {
    return new Harvest(this.#responses, payload)
  }

  /** Goes on when the tensors of a frame are whole, in the order in which the frames came. */
  after(harvest: Harvest | undefined, next: () => void): void {
    const waits = harvest !== undefined && harvest.wait.length > 0
    if (!waits && this.#tail === undefined) {
      if (harvest !== undefined) this.#release(harvest.offsets)
      this.#proceed(next)
      return
    }
    const tail = this.#afterTail(harvest, next)
    this.#tail = tail
    void tail.then(() => {
      if (this.#tail === tail) this.#tail = undefined
    })
  }

  async #afterTail(harvest: Harvest | undefined, next: () => void): Promise<void> {
    await this.#tail
    if (harvest !== undefined) {
      await Promise.all(harvest.wait)
      this.#release(harvest.offsets)
    }
    this.#proceed(next)
  }

  /** What others do with an answer is no fault of the child's. */
  #proceed(next: () => void): void {
    try {
      next()
    } catch (error) {
      const { log, instance } = this.#plan
      log('error', `a response of '${instance}' could not be delivered: ${(error as Error).message}`)
    }
  }

  /** The child may use these blocks again; told with whatever else is told in this turn. */
  #release(offsets: readonly number[]): void {
    if (offsets.length > 0) this.#channel.send(`{"t":"free","o":[${offsets.join(',')}]}`, [])
  }

  /** Answers a call. `open` is a header without its closing brace. */
  reply(open: string, cargo: Cargo): void {
    this.#ship(open, cargo, () => undefined)
  }

  /** Where a reply's tensors go. */
  place(tensors: readonly Tensor[], cargo: Cargo): string {
    try {
      return tensors.map((one) => this.#arena.place(one, this.#encoder.quote(one.name), cargo)).join(',')
    } catch (error) {
      this.#unload(cargo, () => undefined)
      throw error
    }
  }

  /** Bytes that the child has not taken yet. */
  get waiting(): number {
    return this.#channel.waiting
  }

  cancel(live: LiveRequest): void {
    live.isCancelled = true
    this.#channel.send(`{"t":"cancel","q":${live.q}}`, [])
  }

  /** Rejects with the reason when the model says that it is not ready. */
  check(): Promise<unknown> {
    if (this.#gone !== undefined) return Promise.reject(this.#gone)
    const c = this.#nextCheck++
    const answer = new Promise<unknown>((resolve, reject) => this.#checks.set(c, { resolve, reject }))
    this.#channel.send(`{"t":"is_ready","c":${c}}`, [])
    return answer
  }

  stop(): void {
    this.#channel.send('{"t":"stop"}', [])
  }

  kill(reason: string): void {
    this.#process.kill(reason)
  }
}

/** Milliseconds for the last frames of a process that has ended. */
const SILENCE_AFTER = 1_000

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref())
}

function keep<T extends { close(): void }>(opened: { close(): void }[], one: T): T {
  opened.push(one)
  return one
}
