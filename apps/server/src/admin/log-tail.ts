import type { LogLevel } from '@conch/engine'
import type { LogLine } from './log/log.schema.ts'

export interface NewLine {
  readonly level: LogLevel
  readonly text: string
  /** Milliseconds since the epoch; now when left out. */
  readonly at?: number | undefined
  readonly about?: { readonly model: string; readonly version: string } | undefined
}

/** The last lines of the server's log, and whoever follows them. */
export interface LogTail {
  write(line: NewLine): void
  recent(count: number): readonly LogLine[]
  /** Of one model, also when others have written much since. */
  recentOf(model: string): readonly LogLine[]
  /** Lines written from now on; returns how to stop. */
  follow(listener: (line: LogLine) => void): () => void
}

const KEPT = 1000
const KEPT_OF_MODEL = 300
const MODELS = 200
const LONGEST = 4000

export function createLogTail(now: () => number = Date.now): LogTail {
  const lines: LogLine[] = []
  const ofModels = new Map<string, LogLine[]>()
  const listeners = new Set<(line: LogLine) => void>()
  let id = 0
  function keepOfModel(line: LogLine): void {
    const own = ofModels.get(line.model) ?? []
    own.push(line)
    if (own.length > KEPT_OF_MODEL * 2) own.splice(0, own.length - KEPT_OF_MODEL)
    // The model that was silent longest is forgotten first.
    ofModels.delete(line.model)
    ofModels.set(line.model, own)
    const [oldest] = ofModels.keys()
    if (ofModels.size > MODELS && oldest !== undefined) ofModels.delete(oldest)
  }
  return {
    write({ level, text, at = now(), about }) {
      const cut = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text
      const line: LogLine = { id: ++id, at, level, text: cut, ...NOBODY, ...about }
      lines.push(line)
      if (lines.length > KEPT * 2) lines.splice(0, lines.length - KEPT)
      if (line.model !== '') keepOfModel(line)
      for (const listener of listeners) listener(line)
    },
    recent: (count) => lines.slice(-Math.min(count, KEPT)),
    recentOf: (model) => (ofModels.get(model) ?? []).slice(-KEPT_OF_MODEL),
    follow(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

const NOBODY = { model: '', version: '' }
