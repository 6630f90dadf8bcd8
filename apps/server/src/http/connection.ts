import type { Socket } from 'node:net'

/** One client connection. What it has in flight is cancelled together when the client goes: one signal serves them all. */
export class Connection {
  #controller: AbortController | undefined = undefined

  /** Aborts when the client goes. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    return this.#controller.signal
  }

  close(): void {
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
