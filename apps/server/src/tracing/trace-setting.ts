import type { TraceFile } from './trace-file.ts'
import type { TraceLevel } from './trace-options.ts'

export interface SettingValues {
  /** Empty = OFF. */
  readonly level: readonly TraceLevel[]
  readonly rate: number
  /** Requests that may still be traced; −1 = no limit. */
  readonly count: number
  /** Traces per file with an index; 0 = all in the one file. */
  readonly logFrequency: number
}

/** Characters of traces that are kept until they are written. */
const MOST_BUFFERED = 1024 * 1024

/** One setting in force, of the server or of a model: samples requests, gathers their traces (reference: trace-logging §1, §2.3). */
export class TraceSetting {
  readonly values: SettingValues
  /** What was said for this one; anything else follows the setting above it. */
  readonly own: ReadonlySet<keyof SettingValues>
  readonly #file: TraceFile | undefined
  #left: number
  #seen = 0
  #sampled = 0
  #collected = 0
  #replaced = false
  #texts: string[] = []
  #buffered = 0

  constructor(values: SettingValues, own: ReadonlySet<keyof SettingValues>, file: TraceFile | undefined) {
    this.values = values
    this.own = own
    this.#left = values.count
    this.#file = file
  }

  get left(): number {
    return this.#left
  }

  get on(): boolean {
    return this.values.level.length > 0
  }

  /** Whether the next request is traced. One that comes with a trace of its client's always is. */
  sample(continues: boolean): boolean {
    if (!this.on) return false
    if (continues) return true
    const { rate } = this.values
    if (rate === 0 || this.#left === 0) return false
    this.#seen += 1
    if (this.#seen % rate !== 0) return false
    if (this.#left > 0) this.#left -= 1
    this.#sampled += 1
    return true
  }

  /** Takes the text of one trace. */
  collect(text: string): void {
    this.#texts.push(text)
    this.#buffered += text.length
    this.#collected += 1
    const { logFrequency } = this.values
    const isLast = this.#left === 0 && this.#collected === this.#sampled
    if (isLast || (logFrequency !== 0 && this.#texts.length >= logFrequency)) this.#write(true)
    else if (this.#replaced || this.#buffered > MOST_BUFFERED) this.flush()
  }

  flush(): void {
    this.#write(this.values.logFrequency !== 0)
  }

  /** Another one takes its place; what it has sampled still comes. */
  replace(): void {
    this.#replaced = true
    this.flush()
  }

  #write(indexed: boolean): void {
    if (this.#texts.length === 0) return
    const text = this.#texts.join()
    this.#texts = []
    this.#buffered = 0
    if (indexed) this.#file?.writeIndexed(text)
    else this.#file?.append(text)
  }
}
