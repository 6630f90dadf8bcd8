import type { HeaderList } from '@conch/protocol'

/** Who is told what comes on a stream. After `closed` nothing more comes. */
export interface StreamSink {
  /** Headers, then perhaps trailers; `end` with the last thing that comes. */
  headers(list: HeaderList, end: boolean): void
  /** A view that is valid during the call. */
  data(piece: Uint8Array): void
  /** The stream is over: well (the server ended it), or not. */
  closed(error: Error | undefined): void
  /** What waited to be sent has been. */
  drained?(): void
}

/** One call on the wire. */
export class ClientStream {
  readonly sink: StreamSink
  /** 0 = it has not begun: the server has as many streams as it takes. */
  id = 0
  /** The header block it begins with. */
  readonly head: Uint8Array
  /** Bytes that may be sent, and pieces that wait to be. */
  window = 0
  readonly waiting: { bytes: Uint8Array; from: number }[] = []
  /** Nothing will be added to what waits. */
  ended = false
  /** The end has been sent. */
  finished = false
  /** Bytes that were taken and that the server was not yet told of. */
  owed = 0
  /** The server is not to send more for now. */
  paused = false

  constructor(head: Uint8Array, sink: StreamSink) {
    this.head = head
    this.sink = sink
  }

  get backlog(): number {
    let size = 0
    for (const { bytes, from } of this.waiting) size += bytes.length - from
    return size
  }
}
