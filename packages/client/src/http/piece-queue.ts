interface Source {
  cancel(): void
  pause(): void
  resume(): void
}

/** Pieces that wait for their reader; with more the source is told to pause. */
const MOST = 16

/** What comes piece by piece, for one reader. Leaving the loop early cancels the source. */
export class PieceQueue implements AsyncIterable<Uint8Array> {
  readonly #source: Source
  readonly #pieces: Uint8Array[] = []
  #ended = false
  #error: Error | undefined = undefined
  #wake: (() => void) | undefined = undefined

  constructor(source: Source) {
    this.#source = source
  }

  push(piece: Uint8Array): void {
    this.#pieces.push(piece)
    if (this.#pieces.length === MOST) this.#source.pause()
    this.#wake?.()
  }

  end(error: Error | undefined): void {
    this.#ended = true
    this.#error = error
    this.#wake?.()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    try {
      for (let piece = await this.#next(); piece !== undefined; piece = await this.#next()) yield piece
    } finally {
      if (!this.#ended) this.#source.cancel()
    }
  }

  async #next(): Promise<Uint8Array | undefined> {
    while (this.#pieces.length === 0 && !this.#ended) await new Promise<void>((resolve) => (this.#wake = resolve))
    const piece = this.#pieces.shift()
    if (piece === undefined && this.#error !== undefined) throw this.#error
    if (this.#pieces.length === MOST - 1) this.#source.resume()
    return piece
  }
}
