import type { InferRequest, InferResponse, Tensor } from '@conch/protocol'
import { newTimings } from '../../request.ts'
import type { ActiveRequest, Outcome, RequestTrace, Timings } from '../../request.ts'
import type { Turn } from './sequence.ts'
import type { States } from './states.ts'

export interface StepParts {
  /** What the sequence batcher adds to the request's own inputs. */
  readonly added: readonly Tensor[]
  readonly states: States
  /** Outputs that a client may see. */
  readonly visible: ReadonlySet<string>
}

/** One request of a sequence as its model sees it: with controls and states, and the states taken out of the answer. */
export class Step implements ActiveRequest {
  readonly turn: Turn
  readonly request: InferRequest
  readonly rows = 1
  /** The model put it back. */
  again = false
  /** It ended because nobody waits for it. */
  cancelled = false
  readonly #parts: StepParts

  constructor(turn: Turn, parts: StepParts) {
    const { request } = turn.request
    const { states, added } = parts
    this.turn = turn
    this.#parts = parts
    const outputs = request.outputs.length === 0 ? request.outputs : [...request.outputs, ...states.outputs.map(ask)]
    this.request = {
      ...request,
      sequenceId: turn.sequence.id,
      sequenceStart: turn.start,
      sequenceEnd: turn.end,
      inputs: [...request.inputs, ...added],
      outputs,
    }
  }

  get signal(): AbortSignal | undefined {
    return this.turn.request.signal
  }

  get timings(): Timings {
    return this.turn.request.timings
  }

  get chain(): readonly string[] {
    return this.turn.request.chain
  }

  get trace(): RequestTrace | undefined {
    return this.turn.request.trace
  }

  get done(): boolean {
    return this.turn.request.done
  }

  get instance(): object | undefined {
    return this.turn.request.instance
  }

  set instance(instance: object | undefined) {
    this.turn.request.instance = instance
  }

  respond(response: InferResponse | undefined, final: boolean): void {
    this.turn.request.respond(response === undefined ? undefined : this.#take(response), final)
  }

  #take(response: InferResponse): InferResponse {
    const { states, visible } = this.#parts
    if (states.outputs.length === 0) return response
    const { sequence } = this.turn
    sequence.states = states.update(sequence.states, response.outputs)
    return { ...response, outputs: states.hide(response.outputs, visible) }
  }

  respondError(error: unknown): void {
    this.turn.request.respondError(error)
  }

  fail(error: unknown, outcome: Outcome): void {
    if (outcome === 'cancelled') this.cancelled = true
    this.turn.request.fail(error, outcome)
  }
}

function ask(name: string) {
  return { name, binary: true, classification: 0, region: undefined }
}

const NO_TIMINGS = newTimings()

/** A row that only fills its place in a batch: shaped like a real one, not answered, not counted. */
export class Filler implements ActiveRequest {
  readonly request: InferRequest
  readonly rows = 1
  readonly signal = undefined
  readonly timings = NO_TIMINGS
  readonly chain: readonly string[] = []
  done = false
  instance: object | undefined = undefined

  /** `added`: controls that say so, and states of the right shapes. */
  constructor({ turn, request }: Step, added: readonly Tensor[]) {
    const inputs = [...turn.request.request.inputs, ...added]
    this.request = {
      ...request,
      id: '',
      sequenceId: 0n,
      sequenceStart: false,
      sequenceEnd: false,
      parameters: {},
      inputs,
    }
  }

  respond(_response: InferResponse | undefined, final: boolean): void {
    if (final) this.done = true
  }

  respondError(): void {}

  fail(): void {
    this.done = true
  }
}
