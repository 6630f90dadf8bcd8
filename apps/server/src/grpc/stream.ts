import { encodeStreamMessage, readInferMessage } from '@conch/protocol'
import { newTimings } from '@conch/engine'
import type { Timings } from '@conch/engine'
import type { ConchError, InferMessage, InferResponse, StreamAnswer } from '@conch/protocol'
import type { Call, CallHandler } from './call.ts'
import { rankOutputs } from '../rank-outputs.ts'
import { prepareRequest } from './prepare-request.ts'
import type { Prepared } from './prepare-request.ts'
import { describeError, GrpcError, STATUS } from './status.ts'
import { watchCall } from './watch.ts'
import type { Watch } from '../tracing/watch.ts'

/** What gRPC puts before a message, bytes. */
const PREFIX = 5

/** A request of a model that is not decoupled: its answer leaves after those of all before it. */
interface Turn {
  answer: StreamAnswer | undefined
  status: number
  readonly watch: Watch
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
  /** When the next message was first waited for; 0 = nobody asked. */
  #armed: number
  #inflight = 0
  /** Of the messages in flight. */
  #bytes = 0
  #ended = false

  constructor(call: Call) {
    this.#call = call
    this.#armed = call.face.trace.on ? performance.now() : 0
    this.#strict = call.header('triton_grpc_error') === 'true'
  }

  message(bytes: Uint8Array): void {
    this.#bytes += bytes.length + PREFIX
    this.#inflight += 1
    if (this.#inflight >= this.#call.face.limits.streamRequests) this.#call.pause()
    const watch = this.#watch(bytes)
    const message = readInferMessage(bytes)
    let prepared: Prepared
    try {
      if (this.#call.face.draining) throw new GrpcError(STATUS.UNAVAILABLE, SHUTTING_DOWN)
      prepared = prepareRequest(this.#call, message, true)
    } catch (error) {
      this.#take(this.#newTurn(watch), refusal(message, error), describeError(error).status)
      this.#settle()
      return
    }
    if (prepared.decoupled) void this.#runDecoupled(message, prepared, watch)
    else void this.#runOrdered(message, prepared, watch)
  }

  #watch(bytes: Uint8Array): Watch {
    const watch = watchCall(this.#call, this.#armed)
    watch.received(bytes.length)
    this.#armed = this.#call.face.trace.on ? performance.now() : 0
    return watch
  }

  end(): void {
    this.#ended = true
    this.#finishWhenDone()
  }

  gone(): void {
    for (const { watch } of this.#turns) watch.sent({ status: STATUS.CANCELLED, bytes: 0 })
    this.#turns.length = 0
  }

  drained(): void {
    // The backlog is bounded where it grows.
  }

  async #runOrdered(message: InferMessage, { request }: Prepared, watch: Watch): Promise<void> {
    const turn = this.#newTurn(watch)
    const { engine } = this.#call.face
    const timings = newTimings()
    const trace = watch.begin(request, timings)
    try {
      const context = { signal: this.#call.signal, timings, trace, headers: this.#call }
      const response = await engine.infer(request, context)
      this.#take(turn, { error: '', response: rankOutputs(this.#call.face.engine, request, response), final: true })
    } catch (error) {
      this.#take(turn, this.#failure(message, error, { timings, final: true }), describeError(error).status)
    }
    this.#settle()
  }

  async #runDecoupled(message: InferMessage, { request, emptyFinal }: Prepared, watch: Watch): Promise<void> {
    const { engine } = this.#call.face
    const timings = newTimings()
    const trace = watch.begin(request, timings)
    let status: number = STATUS.OK
    let bytes = 0
    let saidFinal = false
    const onError = (error: ConchError) => this.#send(this.#failure(message, error, { timings, final: false }))
    const send = (response: InferResponse, final: boolean): void => {
      saidFinal ||= final
      watch.sending()
      bytes += this.#send({ error: '', response: rankOutputs(this.#call.face.engine, request, response), final })
    }
    try {
      const context = { signal: this.#call.signal, timings, trace, headers: this.#call, onError }
      await engine.stream(request, send, context)
      if (emptyFinal && !saidFinal) this.#send({ error: '', response: blank(message), final: true })
    } catch (error) {
      status = describeError(error).status
      this.#send(this.#failure(message, error, { timings, final: true }))
    }
    watch.sending()
    watch.sent({ status, bytes })
    this.#settle()
  }

  #newTurn(watch: Watch): Turn {
    const turn: Turn = { answer: undefined, watch, status: STATUS.OK }
    this.#turns.push(turn)
    return turn
  }

  #take(turn: Turn, answer: StreamAnswer, status: number = STATUS.OK): void {
    turn.answer = answer
    turn.status = status
    for (let next = this.#turns[0]; next?.answer !== undefined; next = this.#turns[0]) {
      this.#turns.shift()
      next.watch.sending()
      const bytes = this.#send(next.answer)
      next.watch.sent({ status: next.status, bytes })
    }
  }

  /** Returns the bytes of the message. */
  #send(answer: StreamAnswer): number {
    const call = this.#call
    const message = encodeStreamMessage(answer)
    call.send(message)
    const { streamBacklog } = call.face.limits
    if (call.backlog <= streamBacklog) return message.size
    const text = `the client does not read: over ${streamBacklog} bytes of answers wait`
    call.fail(new GrpcError(STATUS.RESOURCE_EXHAUSTED, text))
    return message.size
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
    // An equal share: which message it was does not matter to what all of them take.
    const share = Math.ceil(this.#bytes / this.#inflight)
    this.#bytes -= share
    this.#call.release(share)
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
