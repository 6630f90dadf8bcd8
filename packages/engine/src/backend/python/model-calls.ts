import { ConchError } from '@conch/protocol'
import type { InferRequest, InferResponse } from '@conch/protocol'
import type { ActiveRequest, RequestTrace } from '../../request.ts'
import type { EngineCalls } from '../contract.ts'
import { CustomMetrics } from './custom-metrics.ts'
import { encodeParameters } from './encode-request.ts'
import { toErrorEntry } from './frames.ts'
import type { CallFrame } from './frames.ts'
import { readNestedRequest } from './nested-request.ts'
import { Cargo } from './request-arena.ts'
import type { IncomingCall, Worker } from './worker.ts'

/** Bytes of responses that a caller may leave unread. */
const MAX_UNREAD = 256 * 1024 * 1024

/** What one child asks of the engine. Nothing here ever waits for the child, and nothing outlives it. */
export class ModelCalls {
  readonly #engine: EngineCalls
  /** The caller's name, for calls on nobody's behalf. */
  readonly #model: string
  readonly #metrics: CustomMetrics
  readonly #running = new Map<number, AbortController>()
  #closed = false

  constructor(engine: EngineCalls, model: string) {
    this.#engine = engine
    this.#model = model
    this.#metrics = new CustomMetrics(engine)
  }

  receive(frame: CallFrame, call: IncomingCall): void {
    switch (frame.what) {
      case 'infer':
        return this.#beginInfer(frame, call)
      case 'cancel':
        return this.#running.get(frame.of ?? 0)?.abort()
      case 'drop':
        return this.#metrics.drop(frame)
      default:
        void this.#answer(frame, call)
    }
  }

  async #answer(frame: CallFrame, { worker, payload }: IncomingCall): Promise<void> {
    let answer: string
    try {
      const value = await this.#perform(frame, payload)
      answer = `"value":${JSON.stringify(value ?? null)}`
    } catch (error) {
      answer = `"error":${JSON.stringify(toErrorEntry(error))}`
    }
    if (frame.c !== 0) worker.reply(`{"t":"reply","c":${frame.c},${answer}`, new Cargo())
  }

  async #perform(frame: CallFrame, payload: Buffer): Promise<unknown> {
    const { model = '', version = '' } = frame
    switch (frame.what) {
      case 'load':
        return this.#engine.load(model, readOverride(frame, payload))
      case 'unload':
        return this.#engine.unload(model, frame.dependents === true)
      case 'ready':
        return this.#engine.isReady(model, version)
      case 'family':
        return this.#metrics.createFamily(frame)
      case 'series':
        return this.#metrics.createSeries(frame)
      case 'metric':
        return this.#metrics.operate(frame)
      default:
        throw new ConchError('UNSUPPORTED', `the server knows no call '${frame.what}'`)
    }
  }

  #beginInfer(frame: CallFrame, { worker, harvest }: IncomingCall): void {
    if (frame.request === undefined) throw new Error('a call without its request')
    const parent = typeof frame.q === 'number' ? worker.requests.live.get(frame.q)?.active : undefined
    const request = readNestedRequest(frame.request, harvest)
    request.priority = parent?.request.priority ?? 0
    const trace = findTrace(worker, frame.request.trace)?.child()
    const controller = new AbortController()
    this.#running.set(frame.c, controller)
    if (this.#closed) controller.abort()
    worker.after(harvest, () => void this.#infer(frame, { worker, request, parent, trace, controller }))
  }

  async #infer(frame: CallFrame, call: NestedInference): Promise<void> {
    const { worker, parent, controller } = call
    const follow = () => controller.abort()
    parent?.signal?.addEventListener('abort', follow, { once: true })
    if (parent?.signal?.aborted === true) follow()
    try {
      const response = await this.#run(frame, call)
      this.#reply(frame, worker, { response, final: true })
    } catch (error) {
      const entry = toErrorEntry(error)
      worker.reply(`{"t":"reply","c":${frame.c},"error":${JSON.stringify(entry)},"final":true`, new Cargo())
    } finally {
      parent?.signal?.removeEventListener('abort', follow)
      this.#running.delete(frame.c)
    }
  }

  async #run(frame: CallFrame, call: NestedInference): Promise<InferResponse | undefined> {
    const { worker, request, parent, trace, controller } = call
    const onResponse = (response: InferResponse) => {
      this.#reply(frame, worker, { response, final: false })
      if (worker.waiting > MAX_UNREAD) controller.abort()
    }
    const onError = (error: ConchError) => {
      const response = `{"out":[],"error":${JSON.stringify(toErrorEntry(error))}}`
      worker.reply(`{"t":"reply","c":${frame.c},"response":${response},"final":false`, new Cargo())
    }
    return this.#engine.infer(request, {
      signal: controller.signal,
      chain: parent?.chain ?? [this.#model],
      trace,
      ...(frame.decoupled === true ? { onResponse, onError } : { onResponse: undefined }),
    })
  }

  #reply({ c }: CallFrame, worker: Worker, reply: { response: InferResponse | undefined; final: boolean }): void {
    const cargo = new Cargo()
    let text = ''
    if (reply.response !== undefined) {
      const { outputs, parameters } = reply.response
      const params = encodeParameters(parameters)
      text = `"response":{"out":[${worker.place(outputs, cargo)}],"params":${params}},`
    }
    worker.reply(`{"t":"reply","c":${c},${text}"final":${reply.final}`, cargo)
  }

  /** The child is gone: what runs for it is cancelled, what it counted is taken back. */
  close(): void {
    this.#closed = true
    for (const controller of this.#running.values()) controller.abort()
    this.#metrics.close()
  }
}

interface NestedInference {
  readonly worker: Worker
  readonly request: InferRequest
  readonly parent: ActiveRequest | undefined
  readonly trace: RequestTrace | undefined
  readonly controller: AbortController
}

/** The trace that the model handed on, of any request that its process works on. */
function findTrace(worker: Worker, given: unknown): RequestTrace | undefined {
  if (typeof given !== 'object' || given === null || !('id' in given)) return undefined
  for (const { active } of worker.requests.live.values()) if (active.trace?.id === given.id) return active.trace
  return undefined
}

function readOverride({ config, files }: CallFrame, payload: Buffer) {
  const contents = new Map<string, Uint8Array>()
  for (const [path, offset, bytes] of files ?? []) {
    if (offset < 0 || bytes < 0 || offset + bytes > payload.length) throw new Error('a file outside of its frame')
    contents.set(path, Uint8Array.prototype.slice.call(payload, offset, offset + bytes))
  }
  return {
    ...(config === undefined || config === '' ? {} : { config }),
    ...(contents.size === 0 ? {} : { files: contents }),
  }
}
