import { IncomingMessage } from '../node-http.ts'

/** Takes a request body as it comes off the socket. */
export interface BodySink {
  data(chunk: Buffer): void
  end(): void
}

/**
 * A request whose body goes straight to a sink, without the stream machinery between parser and reader: a small
 * inference spends a good part of its time there. Without a sink it is an ordinary stream.
 */
export class Message extends IncomingMessage {
  sink: BodySink | undefined = undefined

  override push(chunk: Buffer | null): boolean {
    const sink = this.sink
    if (sink === undefined) return super.push(chunk)
    if (chunk !== null) {
      sink.data(chunk)
      return true
    }
    this.sink = undefined
    sink.end()
    return super.push(null)
  }
}
