import type { HeaderList } from '@conch/protocol'
import { DEFAULT_WINDOW } from '@conch/protocol'
import { LIMITS } from './limits.ts'

/** What a call does with its stream. Nothing it is told may throw. */
export interface StreamHandler {
  /** A piece of the request; a view that stays valid. */
  data(piece: Uint8Array): void
  /** The client will send no more. */
  end(): void
  /** The stream is over before it was answered: reset by the client, or the connection is gone. */
  gone(): void
  /** What was written has been taken, after `backlog` was above its limit. */
  drained(): void
}

/** What a stream needs of its connection. */
export interface StreamOwner {
  writeHeaders(stream: H2Stream, block: Uint8Array, end: boolean): void
  pump(stream: H2Stream): void
  reset(stream: H2Stream, code: number): void
  grant(stream: H2Stream, size: number): void
}

/** Part of a response that waits for the client's window: bytes, or the trailers that end it. */
export type Waiting = { readonly bytes: Uint8Array; from: number } | { readonly trailers: Uint8Array }

/** One HTTP/2 stream, from its headers to its end on both sides. */
export class H2Stream {
  readonly id: number
  readonly headers: HeaderList
  readonly #owner: StreamOwner
  handler: StreamHandler | undefined = undefined
  /** Bytes that may be sent. */
  window: number
  /** Bytes that the client may still send, and those it was not yet told it may. */
  allowed: number = LIMITS.streamWindow
  owed = 0
  /** The client is not to send more for now. */
  paused = false
  remoteClosed = false
  localClosed = false
  readonly waiting: Waiting[] = []
  /** Bytes in `waiting`, and those of them that are counted in the memory of all connections. */
  backlog = 0
  counted = 0

  constructor(owner: StreamOwner, parts: { id: number; headers: HeaderList; window?: number }) {
    this.#owner = owner
    this.id = parts.id
    this.headers = parts.headers
    this.window = parts.window ?? DEFAULT_WINDOW
  }

  /** Response headers; with `end` they are all there is. */
  respond(block: Uint8Array, end: boolean): void {
    if (!this.localClosed) this.#owner.writeHeaders(this, block, end)
  }

  /** Bytes of the response body, sent as the client's windows allow. */
  write(parts: readonly Uint8Array[]): void {
    if (this.localClosed) return
    for (const bytes of parts) {
      if (bytes.length === 0) continue
      this.waiting.push({ bytes, from: 0 })
      this.backlog += bytes.length
    }
    this.#owner.pump(this)
  }

  /** Ends the response once everything before has left. */
  end(trailers: Uint8Array): void {
    if (this.localClosed) return
    this.waiting.push({ trailers })
    this.#owner.pump(this)
  }

  reset(code: number): void {
    this.#owner.reset(this, code)
  }

  pause(): void {
    this.paused = true
  }

  resume(): void {
    this.paused = false
    this.#owner.grant(this, 0)
  }
}
