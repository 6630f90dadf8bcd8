import { ConchError } from '@conch/protocol'
import type { InferRequest, InferResponse } from '@conch/protocol'
import type { BackendContext, BackendInstance, BackendModel, Batch, EngineCalls, NestedCall } from '../contract.ts'
import type { Created, Creating, Executed, Executing, Loading, Opened, Opening, Place, Streaming } from './bodies.ts'
import type { GuardedBackend } from './guard.ts'
import { importModule } from './import-module.ts'
import { RemoteRequest } from './sent-request.ts'
import { receiveError, sendError, Wire } from './wire.ts'
import type { Message } from './wire.ts'

type Ask = (body: never, signal: AbortSignal) => Promise<unknown>

/** The child's half: one backend, one loaded version of it, its instances. */
export class Hosted {
  readonly #wire: Wire
  readonly #requests = new Map<number, RemoteRequest>()
  /** Whose chain an array is: calls made with it are made on behalf of that request. */
  readonly #chains = new WeakMap<readonly string[], number>()
  readonly #streams = new Map<number, NestedCall>()
  readonly #instances: BackendInstance[] = []
  #streamed = 0
  #backend: GuardedBackend | undefined = undefined
  #model: BackendModel | undefined = undefined

  constructor(send: (message: Message) => void) {
    const asks: Readonly<Record<string, Ask>> = {
      open: (body: Opening) => this.#open(body),
      complete: ({ config, place }: Loading) => this.#opened.complete(config, this.#describe(place)),
      load: (body: Loading) => this.#load(body),
      create: (body: Creating) => this.#create(body),
      execute: (body: Executing, signal) => this.#execute(body, signal),
      ready: async (instance: number) => this.#find(instance).checkReady?.(),
      close: (instance: number) => this.#find(instance).close(),
      unload: async () => this.#model?.close(),
    }
    this.#wire = new Wire({
      send,
      answer: async (what, body, signal) => asks[what]?.(body as never, signal),
      note: (what, body) => this.#note(what, body),
    })
  }

  receive(message: Message): void {
    this.#wire.receive(message)
  }

  get #opened(): GuardedBackend {
    if (this.#backend === undefined) throw new ConchError('INTERNAL', 'nothing is open')
    return this.#backend
  }

  #find(instance: number): BackendInstance {
    const found = this.#instances[instance]
    if (found === undefined) throw new ConchError('INTERNAL', `there is no instance ${instance}`)
    return found
  }

  async #open(opening: Opening): Promise<Opened> {
    const { preferredGroup, completes } = (this.#backend = await importModule(opening))
    return { preferredGroup, completes }
  }

  async #load({ config, place }: Loading): Promise<void> {
    this.#model = await this.#opened.load(config, this.#describe(place))
  }

  async #create({ spec }: Creating): Promise<Created> {
    if (this.#model === undefined) throw new ConchError('INTERNAL', 'nothing is loaded')
    const made = await this.#model.createInstance(spec)
    this.#instances.push(made)
    return { instance: this.#instances.length - 1, checksReady: made.checkReady !== undefined }
  }

  async #execute(body: Executing, signal: AbortSignal): Promise<Executed> {
    const began = performance.now()
    const requests = body.requests.map((sent) => {
      const request = new RemoteRequest(sent, this.#wire, (q) => this.#requests.delete(q))
      this.#requests.set(sent.q, request)
      this.#chains.set(request.chain, sent.q)
      return request
    })
    const batch: Batch = {
      requests,
      rows: body.rows,
      outputs: new Set(body.outputs),
      computeInputEnd: 0,
      computeOutputStart: 0,
      signal,
    }
    try {
      const answers = await this.#find(body.instance).execute(batch)
      const own = (at: number) => answers !== 'responded' && answers[at] !== 'responded'
      for (const [at, request] of requests.entries()) if (own(at)) request.end()
      const now = performance.now()
      return {
        answers:
          answers === 'responded'
            ? answers
            : answers.map((one) => (isError(one) ? { error: sendError(one.error) } : one)),
        inputEnd: (batch.computeInputEnd || began) - began,
        outputStart: (batch.computeOutputStart || now) - began,
      }
    } catch (error) {
      for (const request of requests) request.end()
      throw error
    }
  }

  #note(what: string, body: unknown): void {
    if (what === 'gone') this.#requests.get(body as number)?.abort()
    if (what === 'answer') this.#stream(body as Streaming)
  }

  #stream({ stream, response, error, final }: Streaming): void {
    const call = this.#streams.get(stream)
    if (error !== undefined) call?.onError?.(receiveError(error))
    else if (response !== undefined) call?.onResponse?.(response, final)
  }

  #describe(place: Place): BackendContext {
    const log = (level: string, text: string) => this.#wire.note('log', { level, text })
    return { ...place, log, engine: this.#calls() }
  }

  #calls(): EngineCalls {
    const wire = this.#wire
    return {
      infer: (request, call) => this.#infer(request, call),
      load: async (model, override) => void (await wire.ask('load', { model, override })),
      unload: async (model, unloadDependents) => void (await wire.ask('unload', { model, unloadDependents })),
      isReady: async (model, version) => (await wire.ask('isReady', { model, version })) === true,
      createFamily: () => {
        throw new ConchError('UNSUPPORTED', 'custom metrics need "process": "shared"')
      },
    }
  }

  async #infer(request: InferRequest, call: NestedCall): Promise<InferResponse | undefined> {
    const streams = call.onResponse !== undefined
    const stream = ++this.#streamed
    if (streams) this.#streams.set(stream, call)
    const { chain } = call
    try {
      const body = { request, chain: [...chain], q: this.#chains.get(chain), stream: streams ? stream : undefined }
      return (await this.#wire.ask('infer', body, call.signal)) as InferResponse | undefined
    } finally {
      this.#streams.delete(stream)
    }
  }
}

function isError(answer: unknown): answer is { readonly error: unknown } {
  return typeof answer === 'object' && answer !== null && 'error' in answer
}
