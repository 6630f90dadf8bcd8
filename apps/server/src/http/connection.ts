import type { Socket } from 'node:net'

/** What one connection has in flight. When the client goes, everything of it is cancelled. */
export class Connection {
  readonly #running = new Set<AbortController>()
  #gone = false

  /** A signal that aborts when the client goes; `release` must be called when the answer is known. */
  open(): AbortController {
    const controller = new AbortController()
    if (this.#gone) controller.abort()
    else this.#running.add(controller)
    return controller
  }

  release(controller: AbortController): void {
    this.#running.delete(controller)
  }

  close(): void {
    this.#gone = true
    for (const controller of this.#running) controller.abort()
    this.#running.clear()
  }
}

/** All open connections, by socket. */
export class Connections {
  readonly #open = new Map<Socket, Connection>()

  get size(): number {
    return this.#open.size
  }

  add(socket: Socket): void {
    const connection = new Connection()
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
    return this.#open.get(socket) ?? new Connection()
  }
}
