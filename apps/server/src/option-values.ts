import { totalmem } from 'node:os'
import { parseBool, parseInteger, UsageError } from './command-line.ts'
import type { Given } from './command-line.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** Where the ports beside HTTP listen unless told otherwise. A unix socket is HTTP's alone; then they stay on the machine too. */
export function defaultAddress(values: Values): string {
  const address = values.text('http-address', '0.0.0.0')
  return address.startsWith('unix:') ? '127.0.0.1' : address
}

/** Typed look-ups in what was given. */
export class Values {
  readonly given: Given
  constructor(given: Given) {
    this.given = given
  }
  all(flag: string): readonly string[] {
    return this.given.get(flag) ?? []
  }
  text(flag: string, fallback: string): string {
    return this.all(flag).at(-1) ?? fallback
  }
  bool(flag: string, fallback: boolean): boolean {
    const text = this.all(flag).at(-1)
    return text === undefined ? fallback : parseBool(flag, text)
  }
  int(flag: string, fallback: number, bits: 32 | 64 = 32): number {
    const text = this.all(flag).at(-1)
    return text === undefined ? fallback : parseInteger(flag, text, bits)
  }
  has(flag: string): boolean {
    return this.given.has(flag)
  }
}

/** Half of what this process may have: the machine's memory, or less inside a container. */
export function parseBodyMemory(values: Values): number {
  const limits = [totalmem(), process.constrainedMemory()].filter((bytes) => bytes > 0)
  const bytes = values.int('http-body-memory', Math.floor(Math.min(...limits) / 2), 64)
  if (bytes > 0) return bytes
  throw new UsageError('http-body-memory', 'Error: --http-body-memory must be greater than 0.')
}
