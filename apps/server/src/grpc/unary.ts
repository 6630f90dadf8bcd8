import type { Call, CallHandler } from './call.ts'
import { GrpcError, STATUS } from './status.ts'

/** Takes the one message of a call and answers when the client has sent it all. */
export class UnaryCall implements CallHandler {
  readonly #call: Call
  readonly #answer: (bytes: Uint8Array) => void | Promise<void>
  #message: Uint8Array | undefined = undefined

  /** What `answer` throws or rejects with ends the call. */
  constructor(call: Call, answer: (bytes: Uint8Array) => void | Promise<void>) {
    this.#call = call
    this.#answer = answer
  }

  message(bytes: Uint8Array): void {
    if (this.#message !== undefined)
      throw new GrpcError(STATUS.UNIMPLEMENTED, 'this method takes one message, got several')
    this.#message = bytes
  }

  end(): void {
    if (this.#message === undefined)
      throw new GrpcError(STATUS.UNIMPLEMENTED, 'this method takes one message, got none')
    const pending = this.#answer(this.#message)
    if (pending !== undefined) pending.catch((error: unknown) => this.#call.fail(error))
  }

  gone(): void {
    this.#message = undefined
  }

  drained(): void {
    // One answer needs no pacing.
  }
}
