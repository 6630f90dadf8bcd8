import { connect } from 'node:net'
import type { Socket } from 'node:net'

export interface RawReply {
  readonly status: number
  /** As sent, in order, without the status line. */
  readonly head: string
  readonly body: Buffer
}

/** A connection that sends exactly the bytes it is told to, and reads replies one by one. */
export class RawClient {
  readonly socket: Socket
  #received: Buffer = Buffer.alloc(0)
  #closed = false
  #wake: () => void = () => undefined

  constructor(address: string) {
    const [host = '', port = ''] = address.split(':')
    this.socket = connect({ host, port: Number(port), allowHalfOpen: false })
    this.socket.on('data', (chunk) => {
      this.#received = Buffer.concat([this.#received, chunk])
      this.#wake()
    })
    this.socket.on('error', () => undefined)
    this.socket.on('close', () => {
      this.#closed = true
      this.#wake()
    })
  }

  send(...parts: (string | Uint8Array)[]): this {
    for (const part of parts) this.socket.write(part)
    return this
  }

  /** The next reply; undefined when the server closed instead. */
  async reply(): Promise<RawReply | undefined> {
    for (;;) {
      const parsed = this.#take()
      if (parsed !== undefined) return parsed
      if (this.#closed) return undefined
      await this.#more()
    }
  }

  /** Resolves when the server has ended the connection. */
  async closed(): Promise<void> {
    while (!this.#closed) await this.#more()
  }

  end(): void {
    this.socket.destroy()
  }

  #more(): Promise<void> {
    return new Promise((resolve) => (this.#wake = resolve))
  }

  #take(): RawReply | undefined {
    const end = this.#received.indexOf('\r\n\r\n')
    if (end < 0) return undefined
    const head = this.#received.toString('latin1', 0, end)
    const status = Number(head.slice(9, 12))
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)
    const chunked = /transfer-encoding: *chunked/i.test(head)
    const from = end + 4
    const to = chunked ? this.#received.indexOf('0\r\n\r\n', from) + 5 : from + Number(length?.[1] ?? 0)
    if ((chunked && to < from + 5) || this.#received.length < to) return undefined
    const body = Buffer.from(this.#received.subarray(from, to))
    this.#received = this.#received.subarray(to)
    return { status, head: head.slice(head.indexOf('\r\n') + 2), body }
  }
}
