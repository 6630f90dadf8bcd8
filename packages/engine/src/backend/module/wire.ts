import { CODE_TEXT, ConchError } from '@conch/protocol'
import type { Code } from '@conch/protocol'

/** What goes over the channel between server and child, both ways; structured clones, so tensors travel as they are. */
export type Message =
  | { readonly t: 'ask'; readonly c: number; readonly what: string; readonly body: unknown }
  | { readonly t: 'abort'; readonly c: number }
  | { readonly t: 'done'; readonly c: number; readonly value: unknown }
  | { readonly t: 'fail'; readonly c: number; readonly error: SentError }
  | { readonly t: 'note'; readonly what: string; readonly body: unknown }
export type SentError = readonly [code: Code, message: string]

export interface WireParts {
  readonly send: (message: Message) => void
  /** Answers a question of the other side. */
  readonly answer: (what: string, body: unknown, signal: AbortSignal) => Promise<unknown>
  readonly note: (what: string, body: unknown) => void
}

/** Questions and answers, several under way at a time, each can be aborted; and notes, which nobody answers. */
export class Wire {
  readonly #parts: WireParts
  readonly #asked = new Map<number, { resolve(value: unknown): void; reject(error: unknown): void }>()
  readonly #answering = new Map<number, AbortController>()
  #count = 0
  #broken: ConchError | undefined = undefined

  constructor(parts: WireParts) {
    this.#parts = parts
  }

  ask(what: string, body: unknown, signal?: AbortSignal): Promise<unknown> {
    if (this.#broken !== undefined) return Promise.reject(this.#broken)
    const c = ++this.#count
    const abort = () => this.#parts.send({ t: 'abort', c })
    return new Promise<unknown>((resolve, reject) => {
      this.#asked.set(c, { resolve, reject })
      this.#parts.send({ t: 'ask', c, what, body })
      if (signal?.aborted === true) abort()
      else signal?.addEventListener('abort', abort, { once: true })
    }).finally(() => signal?.removeEventListener('abort', abort))
  }

  note(what: string, body: unknown): void {
    if (this.#broken === undefined) this.#parts.send({ t: 'note', what, body })
  }

  receive(message: Message): void {
    if (message.t === 'ask') void this.#answer(message.c, message.what, message.body)
    else if (message.t === 'abort') this.#answering.get(message.c)?.abort()
    else if (message.t === 'note') this.#parts.note(message.what, message.body)
    else {
      const asked = this.#asked.get(message.c)
      this.#asked.delete(message.c)
      if (message.t === 'done') asked?.resolve(message.value)
      else asked?.reject(receiveError(message.error))
    }
  }

  /** The other side is gone: what was asked fails, and whatever will be. */
  break(reason: ConchError): void {
    this.#broken ??= reason
    for (const asked of this.#asked.values()) asked.reject(reason)
    this.#asked.clear()
    for (const controller of this.#answering.values()) controller.abort()
  }

  async #answer(c: number, what: string, body: unknown): Promise<void> {
    const controller = new AbortController()
    this.#answering.set(c, controller)
    try {
      const value = await this.#parts.answer(what, body, controller.signal)
      this.#send(c, { t: 'done', c, value })
    } catch (error) {
      this.#send(c, { t: 'fail', c, error: sendError(error) })
    }
  }

  #send(c: number, message: Message): void {
    this.#answering.delete(c)
    if (this.#broken !== undefined) return
    try {
      this.#parts.send(message)
    } catch (error) {
      // Something that cannot be cloned, a function for instance.
      this.#parts.send({ t: 'fail', c, error: sendError(error) })
    }
  }
}

export function sendError(error: unknown): SentError {
  if (error instanceof ConchError) return [error.code, error.message]
  return ['INTERNAL', error instanceof Error ? `${error.name}: ${error.message}` : String(error)]
}

export function receiveError(sent: unknown): ConchError {
  const [code, message] = Array.isArray(sent) ? (sent as unknown[]) : []
  const known = typeof code === 'string' && Object.hasOwn(CODE_TEXT, code)
  return new ConchError(known ? (code as Code) : 'INTERNAL', typeof message === 'string' ? message : String(sent))
}
