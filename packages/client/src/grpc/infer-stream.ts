import { encodeInferRequest, parseStreamResponse } from '@conch/protocol'
import type { RpcOptions } from '../call-options.ts'
import { ClientError, toClientError } from '../error.ts'
import { toRequest, type InferCall } from '../infer-call.ts'
import { InferResult } from '../infer-result.ts'
import type { Channel } from './channel.ts'
import { Rpc, type RpcSink } from './rpc.ts'

/** One answer of a stream: a result, or the error of one request. The stream goes on after either. */
export interface StreamAnswer {
  /** Of the request, if it had one. */
  readonly id: string
  /** Undefined with an error, and for an end that brings nothing. */
  readonly result: InferResult | undefined
  readonly error: ClientError | undefined
  /** No further answer comes to this request. */
  readonly isFinal: boolean
}

export interface SendOptions {
  /** A model that sends any number of answers says when there are no more, if need be by an answer without a result. */
  readonly wantEnd?: boolean | undefined
}

/** Answers that wait for their reader; with more the server is told to pause. */
const MOST_WAITING = 64
/** Bytes of requests that have not left, above which `send` waits. */
const MOST_UNSENT = 4 * 2 ** 20

/** ModelStreamInfer: requests to any models in, answers out as they come. To be iterated by one reader. */
export class InferStream implements RpcSink, AsyncIterable<StreamAnswer> {
  readonly #rpc: Rpc
  readonly #answers: StreamAnswer[] = []
  #paused = false
  #ended = false
  #error: ClientError | undefined = undefined
  /** Who waits for an answer, or for room to send. */
  #reader: (() => void) | undefined = undefined
  #senders: (() => void)[] = []

  constructor(channel: Channel, options: RpcOptions, limit: number) {
    this.#rpc = new Rpc(channel, { method: '/inference.GRPCInferenceService/ModelStreamInfer', options, limit }, this)
  }

  /** Resolves when more may be sent. Rejects when the stream is over. */
  async send(model: string, call: InferCall, { wantEnd = false }: SendOptions = {}): Promise<void> {
    if (this.#ended) throw this.#error ?? new ClientError('CANCELLED', 'the stream has ended')
    this.#rpc.send(encodeInferRequest(toRequest(model, call), wantEnd), false)
    while (!this.#ended && this.#rpc.backlog > MOST_UNSENT) {
      await new Promise<void>((resolve) => this.#senders.push(resolve))
    }
  }

  /** No more requests; the iteration ends when all are answered. */
  end(): void {
    if (!this.#ended) this.#rpc.end()
  }

  /** Gives up what is not answered yet. */
  cancel(): void {
    this.#rpc.cancel(new ClientError('CANCELLED', 'Locally cancelled by application!'))
  }

  /** Leaving the loop early cancels the stream. */
  async *[Symbol.asyncIterator](): AsyncGenerator<StreamAnswer, void> {
    try {
      for (let answer = await this.#next(); answer !== undefined; answer = await this.#next()) yield answer
    } finally {
      if (!this.#ended) this.cancel()
    }
  }

  async #next(): Promise<StreamAnswer | undefined> {
    while (this.#answers.length === 0 && !this.#ended) await new Promise<void>((resolve) => (this.#reader = resolve))
    const answer = this.#answers.shift()
    if (answer === undefined && this.#error !== undefined) throw this.#error
    this.#resume()
    return answer
  }

  message(bytes: Uint8Array): void {
    this.#answers.push(readAnswer(bytes))
    if (this.#answers.length >= MOST_WAITING && !this.#paused) {
      this.#paused = true
      this.#rpc.pause()
    }
    this.#wake()
  }

  ended(error: ClientError | undefined): void {
    this.#ended = true
    this.#error = error
    this.#wake()
    this.drained()
  }

  drained(): void {
    for (const resolve of this.#senders.splice(0)) resolve()
  }

  #resume(): void {
    if (!this.#paused || this.#answers.length > MOST_WAITING / 2) return
    this.#paused = false
    this.#rpc.resume()
  }

  #wake(): void {
    this.#reader?.()
    this.#reader = undefined
  }
}

function readAnswer(bytes: Uint8Array): StreamAnswer {
  try {
    const { error, response } = parseStreamResponse(bytes)
    const { triton_final_response: final } = response.parameters
    if (error !== '') {
      const described = new ClientError('UNKNOWN', error)
      return { id: response.id, result: undefined, error: described, isFinal: final !== false }
    }
    const isFinal = final === true
    const empty = isFinal && response.outputs.length === 0
    return { id: response.id, result: empty ? undefined : new InferResult(response), error: undefined, isFinal }
  } catch (error) {
    throw toClientError(error)
  }
}
