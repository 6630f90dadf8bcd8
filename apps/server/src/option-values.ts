import { parseBool, parseInteger } from './command-line.ts'
import type { Given } from './command-line.ts'

export type Environment = Readonly<Record<string, string | undefined>>

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
