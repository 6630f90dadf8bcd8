import { closeSync } from 'node:fs'
import { Socket } from 'node:net'
import { ConchError } from '@conch/protocol'
import { openCLibrary } from './c-library.ts'
import { FrameReader } from './frame-reader.ts'
import type { FrameListener } from './frame-reader.ts'
import { FrameWriter } from './frame-writer.ts'

const [AF_UNIX, SOCK_STREAM, SOCK_CLOEXEC] = [1, 1, 0o2000000]
const [MSG_DONTWAIT, MSG_NOSIGNAL] = [0x40, 0x4000]
/** What is read at once; used again and again. */
const CHUNK = 64 * 1024

/** All channels write from one thread, and what is written has left this memory when the call returns. */
const writer = new FrameWriter()

export interface ChannelEvents {
  readonly onFrame: FrameListener
  /** The other side has closed, or sent what can be no frame (then with the reason). Called once. */
  readonly onEnd: (reason: Error | undefined) => void
}

/** A pair of sockets: our end of the conversation, and a descriptor for the child. */
export class Channel {
  /** The child's end; to be closed here once the child has it. */
  readonly childDescriptor: number
  readonly #descriptor: number
  readonly #socket: Socket
  readonly #reader: FrameReader
  readonly #onEnd: (reason: Error | undefined) => void
  #ended = false
  #childClosed = false

  constructor(events: ChannelEvents) {
    const pair = new Int32Array(2)
    const c = openCLibrary()
    if (c.socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) !== 0) {
      throw new ConchError('INTERNAL', `cannot make a pair of sockets: ${c.complaint()}`)
    }
    this.#descriptor = pair[0] ?? -1
    this.childDescriptor = pair[1] ?? -1
    this.#reader = new FrameReader(events.onFrame)
    this.#onEnd = events.onEnd
    const chunk = Buffer.allocUnsafeSlow(CHUNK)
    const callback = (bytes: number) => this.#read(chunk.subarray(0, bytes))
    this.#socket = new Socket({ fd: this.#descriptor, onread: { buffer: chunk, callback } })
    // A process that dies leaves unread what was sent to it; why it died is told by its exit.
    this.#socket.on('error', () => this.#end(undefined))
    this.#socket.on('close', () => this.#end(undefined))
    this.#socket.resume()
  }

  /** Bytes that the child has not taken yet. */
  get waiting(): number {
    return this.#socket.writableLength
  }

  closeChildEnd(): void {
    if (this.#childClosed) return
    this.#childClosed = true
    closeSync(this.childDescriptor)
  }

  #read(bytes: Buffer): boolean {
    if (this.#ended) return false
    try {
      this.#reader.push(bytes)
    } catch (error) {
      this.#end(error as Error)
      this.#socket.destroy()
      return false
    }
    return true
  }

  /** Writes one frame. Nothing happens when the conversation is over: whoever waits for an answer hears of that. */
  send(header: string, parts: readonly Uint8Array[]): void {
    if (this.#ended) return
    writer.add(header, parts)
    const frame = writer.take()
    // The socket's own queue is longer than its buffer only when the child is slow; then order matters more than time.
    const sent = this.#socket.writableLength > 0 ? 0 : this.#sendNow(frame)
    if (sent < frame.length) this.#socket.write(Buffer.from(frame.subarray(sent)))
  }

  /** As much as goes without waiting: one system call where a stream would need several times its work around it. */
  #sendNow(frame: Buffer): number {
    const sent = openCLibrary().send(this.#descriptor, frame, frame.length, MSG_DONTWAIT | MSG_NOSIGNAL)
    return Math.max(sent, 0)
  }

  #end(reason: Error | undefined): void {
    if (this.#ended) return
    this.#ended = true
    this.#onEnd(reason)
  }

  close(): void {
    this.closeChildEnd()
    this.#socket.destroy()
  }
}
