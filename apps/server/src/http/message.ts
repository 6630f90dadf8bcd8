import { IncomingMessage } from '../node-http.ts'
import type { RequestHeaders } from './headers.ts'
import { readHeaders } from './headers.ts'

/** Takes a request body as it comes off the socket. */
export interface BodySink {
  data(chunk: Buffer): void
  end(): void
}

/** How Node drops what is left of a body once the answer is sent. */
const dump = (IncomingMessage.prototype as { _dump?: () => void })._dump

/**
 * A request without what a small inference would pay for and never use: the object of all its headers, and the stream
 * machinery between parser and reader. Its body goes straight to a sink; without a sink it is an ordinary stream.
 */
export class Message extends IncomingMessage {
  /** All of its headers that are known by name; `findHeader` finds the others. */
  declare readonly headers: RequestHeaders
  // What Node's requests have and its types do not name.
  declare readonly _dumped: boolean | undefined
  declare _dumpAndCloseReadable: (() => void) | undefined
  sink: BodySink | undefined = undefined
  #headers: RequestHeaders | undefined = undefined

  static {
    // Node itself asks for `expect` and `te`, nothing else.
    Object.defineProperty(this.prototype, 'headers', {
      get(this: Message) {
        return (this.#headers ??= readHeaders(this.rawHeaders))
      },
    })
  }

  override push(chunk: Buffer | null): boolean {
    const sink = this.sink
    if (sink === undefined) return super.push(chunk)
    if (chunk !== null) {
      sink.data(chunk)
      return true
    }
    this.sink = undefined
    sink.end()
    return this.#close()
  }

  /** What goes to a sink is the sink's to drop. */
  _dump(): void {
    if (this.sink === undefined) dump?.call(this)
  }

  /** Nobody listens for the end of a body that went to a sink. */
  #close(): boolean {
    if (this._dumped === true || this._dumpAndCloseReadable === undefined) return super.push(null)
    this._dumpAndCloseReadable()
    return false
  }
}
