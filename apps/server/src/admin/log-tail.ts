import type { LogLevel } from '@conch/engine'
import type { LogLine } from './log/log.schema.ts'

/** The last lines of the server's log, and whoever follows them. */
export interface LogTail {
  /** `at`: milliseconds since the epoch, now when left out. */
  write(level: LogLevel, text: string, at?: number): void
  recent(count: number): readonly LogLine[]
  /** Lines written from now on; returns how to stop. */
  follow(listener: (line: LogLine) => void): () => void
}

const KEPT = 1000
const LONGEST = 4000

export function createLogTail(now: () => number = Date.now): LogTail {
  const lines: LogLine[] = []
  const listeners = new Set<(line: LogLine) => void>()
  let id = 0
  return {
    write(level, text, at = now()) {
      const line: LogLine = {
        id: ++id,
        at,
        level,
        text: text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text,
      }
      lines.push(line)
      if (lines.length > KEPT * 2) lines.splice(0, lines.length - KEPT)
      for (const listener of listeners) listener(line)
    },
    recent: (count) => lines.slice(-Math.min(count, KEPT)),
    follow(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
