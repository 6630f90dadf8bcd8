import { ConchError } from '@conch/protocol'

const LIMIT = 5_000

/** A model's own check, in the original's words (python backend §6). Who asks while one runs shares its answer. */
export class ReadyCheck {
  readonly #instance: string
  readonly #ask: () => Promise<unknown> | undefined
  #running: Promise<void> | undefined = undefined

  /** `ask` answers undefined when there is no process to ask. */
  constructor(instance: string, ask: () => Promise<unknown> | undefined) {
    this.#instance = instance
    this.#ask = ask
  }

  ask(): Promise<void> {
    this.#running ??= this.#check().finally(() => (this.#running = undefined))
    return this.#running
  }

  async #check(): Promise<void> {
    const answer = this.#ask()
    if (answer === undefined) throw new ConchError('UNAVAILABLE', `Stub process '${this.#instance}' is not healthy.`)
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      const text = 'Timed out waiting for user-defined is_ready() response'
      timer = setTimeout(() => reject(new ConchError('UNAVAILABLE', text)), LIMIT)
    })
    try {
      if ((await Promise.race([answer, late])) === true) return
    } finally {
      clearTimeout(timer)
    }
    throw new ConchError('UNAVAILABLE', `Model '${this.#instance}' is not ready (user-defined check failed).`)
  }
}
