import { ServerLog as EngineLog } from '@conch/engine'
import type { LogLine } from '@conch/engine'
import type { LogOptions } from './options.ts'

const REMEMBERED = 200

/** The engine's log, opened as the command line says, on standard error unless a file is named. */
export class ServerLog extends EngineLog {
  constructor(options: LogOptions) {
    super({
      log_info: options.info,
      log_warning: options.warning,
      log_error: options.error,
      log_verbose_level: options.verbose,
      log_format: options.format,
      file: options.file,
      escape: options.escape,
      pid: process.pid,
      print: (line) => void process.stderr.write(`${line}\n`),
    })
  }

  get verbose(): number {
    return this.settings.log_verbose_level
  }

  /** A table is printed as it is, below its prefix. */
  table(text: string): void {
    this.write('info', `\n${text}\n`)
  }

  /** The last lines, oldest first. */
  recent(): readonly LogLine[] {
    return this.tail(REMEMBERED)
  }

  /** Calls the listener with every further line; returns how to stop. */
  onLine(listener: (line: LogLine) => void): () => void {
    return this.subscribe(listener)
  }
}
