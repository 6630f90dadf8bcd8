import { ConchError } from '@conch/protocol'
import type { InferResponse, ModelConfig } from '@conch/protocol'
import { BackOff } from '../back-off.ts'
import type { BackendContext, BackendInstance, BackendModel, InstanceSpec } from '../contract.ts'
import type { Asking, Calling, Created, Loading, Responding } from './bodies.ts'
import { describePlace } from './place.ts'
import { Child } from './child.ts'
import type { Origin } from './locate.ts'
import { RemoteInstance } from './remote-instance.ts'
import type { InstanceOwner } from './remote-instance.ts'
import { RemoteRequests } from './remote-requests.ts'
import { sendError } from './wire.ts'

/** The server's half of one loaded version: its process, started again when it ends without being asked to. */
export class RemoteModel implements BackendModel, InstanceOwner {
  readonly origin: Origin
  readonly requests = new RemoteRequests()
  restarts = 0
  lastExit: string | undefined = undefined
  readonly #config: ModelConfig
  readonly #context: BackendContext
  readonly #instances = new Set<RemoteInstance>()
  readonly #backOff = new BackOff()
  #child: Child | undefined = undefined
  #timer: NodeJS.Timeout | undefined = undefined
  #closed = false

  private constructor(origin: Origin, config: ModelConfig, context: BackendContext) {
    this.origin = origin
    this.#config = config
    this.#context = context
  }

  static async load(origin: Origin, config: ModelConfig, context: BackendContext): Promise<RemoteModel> {
    const model = new RemoteModel(origin, config, context)
    await model.#start()
    return model
  }

  /** Undefined while it is down. */
  get child(): Child | undefined {
    return this.#child
  }

  async createInstance(spec: InstanceSpec): Promise<BackendInstance> {
    const instance = new RemoteInstance(this, spec)
    instance.rise(await this.#create(this.#living, spec))
    this.#instances.add(instance)
    return instance
  }

  leave(instance: RemoteInstance): void {
    this.#instances.delete(instance)
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    clearTimeout(this.#timer)
    const child = this.#child
    await child?.wire.ask('unload', undefined).catch((error: unknown) => this.#context.log('error', String(error)))
    await child?.end()
  }

  get #living(): Child {
    if (this.#child !== undefined) return this.#child
    throw new ConchError('UNAVAILABLE', `the process of backend '${this.origin.name}' is down: ${this.lastExit ?? ''}`)
  }

  async #create(child: Child, spec: InstanceSpec): Promise<Created> {
    return (await child.wire.ask('create', { spec })) as Created
  }

  async #start(): Promise<void> {
    const { child } = await Child.open(this.origin, {
      log: this.#context.log,
      answer: (what, body, signal) => this.#answer(what, body, signal),
      note: (what, body) => this.#note(what, body),
    })
    const began = performance.now()
    try {
      const body: Loading = { config: this.#config, place: describePlace(this.#context) }
      await child.wire.ask('load', body)
      const created: [RemoteInstance, Created][] = []
      for (const instance of this.#instances) created.push([instance, await this.#create(child, instance.spec)])
      this.#child = child
      for (const [instance, one] of created) instance.rise(one)
    } catch (error) {
      await child.end()
      throw error
    }
    void child.ended.then((reason) => this.#ended(reason, performance.now() - began))
  }

  #ended(reason: string, lived: number): void {
    this.#child = undefined
    if (this.#closed) return
    this.lastExit = reason
    this.requests.failAll(
      new ConchError('UNAVAILABLE', `the process of backend '${this.origin.name}' is gone: ${reason}`),
    )
    for (const instance of this.#instances) instance.fall()
    this.#context.log('error', `the process of backend '${this.origin.name}' is gone: ${reason}`)
    this.#backOff.ended(lived, false)
    this.#startLater()
  }

  #startLater(): void {
    this.#timer = setTimeout(() => {
      this.restarts += 1
      this.#start().then(
        () => this.#closed && void this.#child?.end(),
        (error: unknown) => this.#failed(error),
      )
    }, this.#backOff.delay)
  }

  #failed(error: unknown): void {
    if (this.#closed) return
    this.#backOff.failed()
    this.#context.log('error', `backend '${this.origin.name}' cannot be started again: ${String(error)}`)
    this.#startLater()
  }

  #note(what: string, body: unknown): void {
    if (what === 'log') {
      const { level, text } = body as { level: 'verbose' | 'info' | 'warning' | 'error'; text: string }
      this.#context.log(level, text)
    } else if (what === 'respond') this.requests.respond(body as Responding)
  }

  async #answer(what: string, body: unknown, signal: AbortSignal): Promise<unknown> {
    const { engine } = this.#context
    const { model, version, override, unloadDependents } = body as Asking
    if (what === 'infer') return this.#infer(body as Calling, signal)
    if (what === 'load') return engine.load(model, override)
    if (what === 'unload') return engine.unload(model, unloadDependents)
    if (what === 'isReady') return engine.isReady(model, version)
    throw new ConchError('UNSUPPORTED', `the engine has no answer to '${what}'`)
  }

  #infer({ request, chain, q, stream }: Calling, signal: AbortSignal): Promise<InferResponse | undefined> {
    const wire = this.#child?.wire
    const send = (body: object) => wire?.note('answer', { stream, ...body })
    return this.#context.engine.infer(request, {
      signal,
      // The very array of the request that it is for: the engine knows by it who waits for whom.
      chain: (q === undefined ? undefined : this.requests.find(q)?.chain) ?? chain,
      onResponse: stream === undefined ? undefined : (response, final) => send({ response, final }),
      ...(stream === undefined
        ? {}
        : { onError: (error: ConchError) => send({ error: sendError(error), final: false }) }),
    })
  }
}
