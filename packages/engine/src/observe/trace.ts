import { randomFillSync } from 'node:crypto'
import type { InferRequest, InferResponse, Tensor } from '@conch/protocol'
import type { RequestTrace, Timings, TracedVersion } from '../request.ts'

/** Something that happened, on the clock of `Timings`. */
export interface TraceActivity {
  readonly name: string
  readonly at: number
}

/** A tensor as it was; its memory may be used for something else by now, so this is text. */
export interface TracedTensor {
  readonly activity: 'TENSOR_QUEUE_INPUT' | 'TENSOR_BACKEND_OUTPUT'
  readonly name: string
  readonly datatype: string
  readonly shape: readonly number[]
  readonly text: string
}

export interface TraceParts {
  readonly nextId: () => number
  /** Prints the values of tensors, when they are to be traced. */
  readonly printTensor: ((tensor: Tensor) => string) | undefined
  /** Prints what a model may continue, where spans are collected. */
  readonly printContext: ((request: TracedRequest) => string) | undefined
  /** Called once, when the face and every request have reported. */
  readonly onDone: (trace: Trace) => void
}

/** One sampled request of a client, with all that were made on its behalf. */
export class Trace {
  readonly parts: TraceParts
  /** The client's own first; others in the order in which they were taken. */
  readonly requests: TracedRequest[] = []
  readonly root: TracedRequest
  #open = 1

  constructor(parts: TraceParts) {
    this.parts = parts
    this.root = new TracedRequest(this, undefined)
    this.requests.push(this.root)
  }

  hold(): void {
    this.#open += 1
  }

  /** Called by the face when it has sent its answer, and for every request that ended. */
  release(): void {
    this.#open -= 1
    if (this.#open === 0) this.parts.onDone(this)
  }
}

/** One request of a trace: what it reported. */
export class TracedRequest implements RequestTrace {
  readonly id: number
  readonly parent: TracedRequest | undefined
  /** '' = no version has taken it. */
  model = ''
  version = ''
  requestId = ''
  /** Stamps of the engine; those that it did not come to are missing. */
  readonly stamps: TraceActivity[] = []
  /** What faces and backends reported, in order. */
  readonly activities: TraceActivity[] = []
  readonly tensors: TracedTensor[] = []
  error: unknown = undefined
  readonly #trace: Trace
  #ensemble = false
  #responded = false
  #spanId = ''
  #computeId = ''
  #context: string | undefined = undefined

  constructor(trace: Trace, parent: TracedRequest | undefined) {
    this.#trace = trace
    this.parent = parent
    this.id = trace.parts.nextId()
  }

  /** Of the span of the whole request: 8 bytes, hexadecimal. */
  get spanId(): string {
    this.#spanId ||= randomHex(8)
    return this.#spanId
  }

  /** Of the span in which it is computed. */
  get computeId(): string {
    this.#computeId ||= randomHex(8)
    return this.#computeId
  }

  get context(): string | undefined {
    this.#context ??= this.#trace.parts.printContext?.(this)
    return this.#context
  }

  child(): TracedRequest {
    return new TracedRequest(this.#trace, this)
  }

  begin({ model, version, config }: TracedVersion, request: InferRequest): this {
    this.model = model
    this.version = version
    this.requestId = request.id
    this.#ensemble = config.platform === 'ensemble'
    if (this.parent !== undefined) this.#trace.requests.push(this)
    this.#trace.hold()
    for (const tensor of request.inputs) this.#keep('TENSOR_QUEUE_INPUT', tensor)
    return this
  }

  report(name: string, at: number): void {
    if (this.activities.length < MOST_ACTIVITIES) this.activities.push({ name, at })
  }

  respond(response: InferResponse): void {
    if (!this.#ensemble) for (const tensor of response.outputs) this.#keep('TENSOR_BACKEND_OUTPUT', tensor)
    this.#complete()
  }

  end(timings: Timings, { cached, error }: { readonly cached: boolean; readonly error: unknown }): void {
    this.error = error
    this.#complete()
    this.#stamp('REQUEST_START', timings.start)
    this.#stamp('QUEUE_START', timings.queued)
    if (!cached && !this.#ensemble) {
      this.#stamp('COMPUTE_START', timings.computeStart)
      this.#stamp('COMPUTE_INPUT_END', timings.computeInputEnd)
      this.#stamp('COMPUTE_OUTPUT_START', timings.computeOutputStart)
      this.#stamp('COMPUTE_END', timings.computeEnd)
    }
    this.#stamp('REQUEST_END', timings.end)
    this.#trace.release()
  }

  /** Tells only of the first response, and only to the client. */
  #complete(): void {
    if (this.parent !== undefined || this.#responded) return
    this.#responded = true
    this.report('INFER_RESPONSE_COMPLETE', performance.now())
  }

  #stamp(name: string, at: number): void {
    if (at !== 0) this.stamps.push({ name, at })
  }

  #keep(activity: TracedTensor['activity'], tensor: Tensor): void {
    const { printTensor } = this.#trace.parts
    if (printTensor === undefined || this.tensors.length >= MOST_ACTIVITIES) return
    const { name, datatype, shape } = tensor
    this.tensors.push({ activity, name, datatype, shape, text: printOrNothing(printTensor, tensor) })
  }
}

/** Tensors are traced before anybody has looked at their bytes. */
function printOrNothing(print: (tensor: Tensor) => string, tensor: Tensor): string {
  try {
    return print(tensor)
  } catch {
    return ''
  }
}

/** A model that streams for hours reports no end of things. */
const MOST_ACTIVITIES = 1_000

export function randomHex(bytes: number): string {
  return randomFillSync(Buffer.alloc(bytes)).toString('hex')
}
