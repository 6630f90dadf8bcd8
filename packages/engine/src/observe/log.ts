import { closeSync, openSync, writeSync } from 'node:fs'
import type { Log, LogLevel, LogSubject } from './contract.ts'

/** What `GET /v2/logging` shows and `POST` changes. */
export interface LogSettings {
  log_info: boolean
  log_warning: boolean
  log_error: boolean
  log_verbose_level: number
  log_format: 'default' | 'ISO8601'
}

export interface LogOptions extends LogSettings {
  /** '' = standard output and standard error. */
  readonly file: string
  /** Print messages as JSON strings, so that nothing in them can pass for a line of its own. */
  readonly escape: boolean
  readonly pid: number
  /** Takes lines when there is no file. */
  readonly print: (line: string, level: LogLevel) => void
}

export interface LogLine {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly level: LogLevel
  readonly text: string
  readonly about?: LogSubject
}

const RING = 1_000
const MAX_TEXT = 64 * 1024
const LETTERS: Readonly<Record<LogLevel, string>> = { verbose: 'I', info: 'I', warning: 'W', error: 'E' }

/** The server's log: the original's line format, levels that can be switched at run time, the last lines kept. */
export class ServerLog implements Log {
  readonly settings: LogSettings
  /** The file that is written to; '' = none. */
  readonly file: string
  /** Lines that a full disk swallowed. */
  dropped = 0
  readonly #options: LogOptions
  readonly #ring: LogLine[] = []
  readonly #listeners = new Set<(line: LogLine) => void>()
  #descriptor: number | undefined = undefined

  /** Falls back to the console when the file cannot be opened, and says so. */
  constructor(options: LogOptions) {
    const { log_info, log_warning, log_error, log_verbose_level, log_format } = options
    this.settings = { log_info, log_warning, log_error, log_verbose_level, log_format }
    this.#options = options
    if (options.file !== '') this.#open(options.file)
    this.file = this.#descriptor === undefined ? '' : options.file
  }

  #open(file: string): void {
    try {
      this.#descriptor = openSync(file, 'a', 0o644)
    } catch (error) {
      this.write('error', `failed to open log file '${file}': ${(error as Error).message}`)
    }
  }

  write(level: LogLevel, text: string, about?: LogSubject): void {
    if (!this.#shows(level)) return
    const at = Date.now()
    const cut = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text
    this.#keep({ at, level, text: cut, ...(about && { about }) })
    const line = formatLine({ at, level, text: cut }, { ...this.#options, log_format: this.settings.log_format })
    if (this.#descriptor === undefined) this.#options.print(line, level)
    else this.#append(this.#descriptor, line)
  }

  /** A line of another format, where the others go; it is not kept. */
  raw(line: string): void {
    if (this.#descriptor === undefined) this.#options.print(line, 'info')
    else this.#append(this.#descriptor, line)
  }

  #append(descriptor: number, line: string): void {
    try {
      writeSync(descriptor, `${line}\n`)
    } catch {
      this.dropped += 1
    }
  }

  /** The last lines, oldest first. */
  tail(count: number): readonly LogLine[] {
    return this.#ring.slice(-count)
  }

  subscribe(listener: (line: LogLine) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor)
    this.#descriptor = undefined
  }

  #shows(level: LogLevel): boolean {
    if (level === 'verbose') return this.settings.log_verbose_level > 0
    return this.settings[`log_${level}`]
  }

  #keep(line: LogLine): void {
    this.#ring.push(line)
    if (this.#ring.length > RING) this.#ring.shift()
    for (const listener of this.#listeners) listener(line)
  }
}

/**
 * `I0520 20:03:25.829575 3355 conch.ts:1] "text"` or `2026-05-20T20:03:25Z I 3355 conch.ts:1] "text"`, UTC. A text that
 * starts with a line break is a heading-less object (a table) and is printed as it is.
 */
export function formatLine(line: LogLine, options: Pick<LogOptions, 'escape' | 'pid' | 'log_format'>): string {
  const iso = new Date(line.at).toISOString()
  const letter = LETTERS[line.level]
  const time = `${iso.slice(5, 7)}${iso.slice(8, 10)} ${iso.slice(11, 23)}000`
  const head = options.log_format === 'ISO8601' ? `${iso.slice(0, 19)}Z ${letter}` : `${letter}${time}`
  const table = line.text.startsWith('\n')
  const text = options.escape && !table ? JSON.stringify(line.text) : line.text
  return `${head} ${options.pid} conch.ts:1] ${text}`
}
