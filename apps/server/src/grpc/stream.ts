import { encodeStreamMessage, readInferMessage } from '@conch/protocol'
import { newTimings } from '@conch/engine'
import type { Timings } from '@conch/engine'
import type { ConchError, InferMessage, InferResponse, StreamAnswer } from '@conch/protocol'
import type { Call, CallHandler } from './call.ts'
import { prepareRequest, rank } from './prepare-request.ts'
import type { Prepared } from './prepare-request.ts'
import { describeError, GrpcError, STATUS } from './status.ts'

/** A request of a model that is not decoupled: its answer leaves after those of all before it. */
interface Turn {
  answer: StreamAnswer | undefined
}

/**
 * ModelStreamInfer (reference: gRPC §5): any number of requests for any models, several in flight. Answers of models that are not decoupled
 * leave in the order of their requests; those of decoupled ones as they come.
 */
export class StreamInfer implements CallHandler {
  readonly #call: Call
  readonly #turns: Turn[] = []
  /** `triton_grpc_error: true`: a model's error ends the stream with its status. */
  readonly #strict: boolean
  #inflight = 0
  #ended = false

  constructor(call: Call) {
    this.#call = call
    this.#strict = call.header('triton_grpc_error') === 'true'
  }

  message(bytes: Uint8Array): void {
    this.#inflight += 1
    if (this.#inflight >= this.#call.face.limits.streamRequests) this.#call.pause()
    const message = readInferMessage(bytes)
    let prepared: Prepared
    try {
      if (this.#call.face.draining) throw new GrpcError(STATUS.UNAVAILABLE, SHUTTING_DOWN)
      prepared = prepareRequest(this.#call, message, true)
    } catch (error) {
      this.#take(this.#newTurn(), refusal(message, error))
      this.#settle()
      return
    }
    if (prepared.decoupled) void this.#runDecoupled(message, prepared)
    else void this.#runOrdered(message, prepared)
  }

  end(): void {
    this.#ended = true
    this.#finishWhenDone()
  }

  gone(): void {
    this.#turns.length = 0
  }

  drained(): void {
    // The backlog is bounded where it grows.
  }

  async #runOrdered(message: InferMessage, { request }: Prepared): Promise<void> {
    const turn = this.#newTurn()
    const { engine } = this.#call.face
    const timings = newTimings()
    try {
      const response = await engine.infer(request, { signal: this.#call.signal, timings })
      this.#take(turn, { error: '', response: rank(this.#call.face, request, response), final: true })
    } catch (error) {
      this.#take(turn, this.#failure(message, error, { timings, final: true }))
    }
    this.#settle()
  }

  async #runDecoupled(message: InferMessage, { request, emptyFinal }: Prepared): Promise<void> {
    const { engine } = this.#call.face
    const timings = newTimings()
    let saidFinal = false
    const onError = (error: ConchError) => this.#send(this.#failure(message, error, { timings, final: false }))
    const send = (response: InferResponse, final: boolean): void => {
      saidFinal ||= final
      this.#send({ error: '', response: rank(this.#call.face, request, response), final })
    }
    try {
      await engine.stream(request, send, { signal: this.#call.signal, timings, onError })
      if (emptyFinal && !saidFinal) this.#send({ error: '', response: blank(message), final: true })
    } catch (error) {
      this.#send(this.#failure(message, error, { timings, final: true }))
    }
    this.#settle()
  }

  #newTurn(): Turn {
    const turn: Turn = { answer: undefined }
    this.#turns.push(turn)
    return turn
  }

  #take(turn: Turn, answer: StreamAnswer): void {
    turn.answer = answer
    for (let next = this.#turns[0]; next?.answer !== undefined; next = this.#turns[0]) {
      this.#turns.shift()
      this.#send(next.answer)
    }
  }

  #send(answer: StreamAnswer): void {
    const call = this.#call
    call.send(encodeStreamMessage(answer))
    const { streamBacklog } = call.face.limits
    if (call.backlog <= streamBacklog) return
    const text = `the client does not read: over ${streamBacklog} bytes of answers wait`
    call.fail(new GrpcError(STATUS.RESOURCE_EXHAUSTED, text))
  }

  /** An error of the model; one that came before the model had the request carries the id alone. */
  #failure(
    message: InferMessage,
    error: unknown,
    state: { readonly timings: Timings; readonly final: boolean },
  ): StreamAnswer {
    if (state.timings.queued === 0) return refusal(message, error)
    if (this.#strict) this.#call.fail(error)
    return { error: describeError(error).message, response: blank(message), final: state.final }
  }

  #settle(): void {
    this.#inflight -= 1
    if (this.#call.done) return
    if (this.#inflight < this.#call.face.limits.streamRequests) this.#call.resume()
    this.#finishWhenDone()
  }

  #finishWhenDone(): void {
    if (this.#ended && this.#inflight === 0) this.#call.finish()
  }
}

export const SHUTTING_DOWN = 'GRPC server is shutting down and has stopped accepting new requests.'

function blank({ model, version, id }: InferMessage): InferResponse {
  return { model, version, id, parameters: {}, outputs: [] }
}

function refusal({ id }: InferMessage, error: unknown): StreamAnswer {
  const response = { model: '', version: '', id, parameters: {}, outputs: [] }
  return { error: describeError(error).message, response, final: undefined }
}
