import { openSync, writeSync } from 'node:fs'
import type { LogOptions } from './options.ts'

export type LogLevel = 'verbose' | 'info' | 'warning' | 'error'

/** What `/v2/logging` shows and changes. */
export interface LogSettings {
  file: string
  info: boolean
  warning: boolean
  error: boolean
  verbose: number
  format: 'default' | 'ISO8601'
}

export interface LogLine {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly level: LogLevel
  readonly text: string
}

const LETTER: Readonly<Record<LogLevel, string>> = { verbose: 'I', info: 'I', warning: 'W', error: 'E' }
const REMEMBERED = 200

/** The server's log: one sink, settings that change while it runs, and the last lines for whoever looks later. */
export class ServerLog {
  readonly settings: LogSettings
  readonly #escape: boolean
  readonly #lines: LogLine[] = []
  readonly #listeners = new Set<(line: LogLine) => void>()
  #descriptor = 2

  constructor(options: LogOptions) {
    const { verbose, info, warning, error, format, file } = options
    this.settings = { file, info, warning, error, verbose, format }
    this.#escape = options.escape
    if (file !== '') this.#open(file)
  }

  get verbose(): number {
    return this.settings.verbose
  }

  write(level: LogLevel, text: string): void {
    if (this.#wants(level)) this.#put(level, text, this.#escape ? JSON.stringify(text) : text)
  }

  /** A table: printed as it is, below its prefix. */
  table(text: string): void {
    if (this.settings.info) this.#put('info', text, `\n${text}\n`)
  }

  /** The last lines, oldest first. */
  recent(): readonly LogLine[] {
    return [...this.#lines]
  }

  /** Calls the listener with every further line; returns how to stop. */
  onLine(listener: (line: LogLine) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  #wants(level: LogLevel): boolean {
    if (level === 'verbose') return this.settings.verbose > 0
    return this.settings[level]
  }

  #put(level: LogLevel, text: string, shown: string): void {
    const now = new Date()
    const line: LogLine = { at: now.getTime(), level, text }
    this.#lines.push(line)
    if (this.#lines.length > REMEMBERED) this.#lines.shift()
    for (const listener of this.#listeners) listener(line)
    try {
      writeSync(this.#descriptor, `${prefix(level, now, this.settings.format)}${shown}\n`)
    } catch {
      // A full disk, a closed or a slow pipe: the line is lost, serving is not.
    }
  }

  /** A file that cannot be opened leaves the console, as the original does. */
  #open(file: string): void {
    try {
      this.#descriptor = openSync(file, 'a')
    } catch (error) {
      this.settings.file = ''
      this.write(
        'error',
        `failed to open log file '${file}': ${error instanceof Error ? error.message : String(error)}`,
      )
    }
  }
}

const two = (n: number) => String(n).padStart(2, '0')

/** `LMMDD hh:mm:ss.ssssss PID conch:0] ` or `YYYY-MM-DDThh:mm:ssZ L PID conch:0] `, both in UTC as the original. */
function prefix(level: LogLevel, now: Date, format: LogSettings['format']): string {
  const source = `${process.pid} conch:0] `
  if (format === 'ISO8601') return `${now.toISOString().slice(0, 19)}Z ${LETTER[level]} ${source}`
  const day = `${two(now.getUTCMonth() + 1)}${two(now.getUTCDate())}`
  const time = `${two(now.getUTCHours())}:${two(now.getUTCMinutes())}:${two(now.getUTCSeconds())}`
  const micros = String(now.getUTCMilliseconds() * 1000).padStart(6, '0')
  return `${LETTER[level]}${day} ${time}.${micros} ${source}`
}
