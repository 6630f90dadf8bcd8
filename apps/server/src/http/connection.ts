import type { Socket } from 'node:net'
import type { BodyCollector } from './body.ts'
import { LIMITS } from './limits.ts'

/** How Node itself stops and starts to read, when it has more answers to send than the socket takes. */
interface Pausable {
  _paused?: boolean
  readonly parser?: { resume?(): void } | null
}

/**
 * One client connection. What it has in flight is cancelled together when the client goes: one signal serves them all.
 * A client that sends on without waiting for answers is read no further once it has many requests in flight.
 */
export class Connection {
  /** The body that is coming in now. */
  reading: BodyCollector | undefined = undefined
  readonly #socket: Socket & Pausable
  #inflight = 0
  #held = false
  #looking = false
  #looks: NodeJS.Timeout | undefined = undefined
  #controller: AbortController | undefined = undefined

  constructor(socket: Socket) {
    this.#socket = socket
    // Node goes on reading when it has sent what it had to send, whatever is in flight.
    socket.on('resume', () => {
      if (this.#inflight >= LIMITS.pipelined && !this.#looking) this.#hold()
    })
  }

  /** A request has come. */
  begin(): void {
    this.#inflight += 1
    if (this.#inflight >= LIMITS.pipelined) this.#hold()
  }

  /** Its answer is known. One that must wait for earlier ones is `queued`: Node reads on when it has sent it. */
  end(queued: boolean): void {
    this.#inflight -= 1
    if (!this.#held || this.#inflight > LIMITS.pipelined / 2) return
    if (queued || this.#socket.writableNeedDrain) return
    this.#held = false
    this.#readOn()
  }

  #hold(): void {
    this.#held = true
    this.#socket._paused = true
    this.#socket.pause()
    this.#looks ??= setInterval(() => this.#look(), LIMITS.lookInterval).unref()
  }

  #readOn(): void {
    this.#socket._paused = false
    this.#socket.parser?.resume?.()
    this.#socket.resume()
  }

  /** Reads once, to see whether the client is still there. */
  #look(): void {
    if (!this.#held) {
      clearInterval(this.#looks)
      this.#looks = undefined
      return
    }
    if (this.#looking || this.#inflight >= LIMITS.lookUntil || this.#socket.writableNeedDrain) return
    this.#looking = true
    this.#readOn()
    // What there is to read is read before this runs.
    setImmediate(() => {
      this.#looking = false
      if (this.#inflight >= LIMITS.pipelined / 2 && !this.#socket.destroyed) this.#hold()
      else this.#held = false
    })
  }

  /** Aborts when the client goes. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    return this.#controller.signal
  }

  close(): void {
    clearInterval(this.#looks)
    this.reading?.abort()
    if (this.#controller === undefined) this.#controller = new AbortController()
    this.#controller.abort()
  }
}

/** All open connections, by socket. */
export class Connections {
  readonly #open = new Map<Socket, Connection>()

  get size(): number {
    return this.#open.size
  }

  add(socket: Socket): void {
    const connection = new Connection(socket)
    this.#open.set(socket, connection)
    socket.once('close', () => {
      this.#open.delete(socket)
      connection.close()
    })
  }

  /** Ends connections that never sent a byte, which the server itself does not count as idle. */
  endSilent(): void {
    for (const socket of this.#open.keys()) if (socket.bytesRead === 0) socket.destroy()
  }

  of(socket: Socket): Connection {
    return this.#open.get(socket) ?? new Connection(socket)
  }
}
