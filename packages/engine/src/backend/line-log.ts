const MAX_LINE = 4_096
/** Lines a second of one process that are kept; a model that prints for every row would drown the log. */
const MAX_RATE = 500
/** Enough for what Python says when it crashes, and what came before. */
const KEPT_LINES = 40

/** Cuts what a process prints into lines for the log: bounded in length and rate, harmless whatever the bytes are. */
export class LineLog {
  readonly #write: (line: string) => void
  readonly #now: () => number
  readonly #decoder = new TextDecoder('utf-8')
  readonly #last: string[] = []
  #rest = ''
  #second = -1
  #inSecond = 0
  #dropped = 0

  constructor(write: (line: string) => void, now: () => number) {
    this.#write = write
    this.#now = now
  }

  push(chunk: Uint8Array): void {
    const text = this.#rest + this.#decoder.decode(chunk, { stream: true })
    const lines = text.split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#line(line)
    while (this.#rest.length > MAX_LINE) {
      this.#line(this.#rest.slice(0, MAX_LINE))
      this.#rest = this.#rest.slice(MAX_LINE)
    }
  }

  /** The process has ended: what is left is a line. */
  end(): void {
    if (this.#rest !== '') this.#line(this.#rest)
    this.#rest = ''
    this.#tellDropped()
  }

  /** The last lines, oldest first. */
  get last(): readonly string[] {
    return this.#last
  }

  #line(raw: string): void {
    const line = clean(raw.length > MAX_LINE ? `${raw.slice(0, MAX_LINE)}…` : raw)
    if (line === '') return
    this.#last.push(line)
    if (this.#last.length > KEPT_LINES) this.#last.shift()
    const second = Math.floor(this.#now() / 1_000)
    if (second !== this.#second) {
      this.#tellDropped()
      this.#second = second
      this.#inSecond = 0
    }
    this.#inSecond += 1
    if (this.#inSecond > MAX_RATE) this.#dropped += 1
    else this.#write(line)
  }

  #tellDropped(): void {
    if (this.#dropped > 0) this.#write(`${this.#dropped} lines were left out: more than ${MAX_RATE} in a second`)
    this.#dropped = 0
  }
}

/** Control characters could move a terminal's cursor or pass for a line of the server's own. */
function clean(line: string): string {
  return line.trimEnd().replace(/[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]/g, (found) => {
    return `\\x${found.charCodeAt(0).toString(16).padStart(2, '0')}`
  })
}
