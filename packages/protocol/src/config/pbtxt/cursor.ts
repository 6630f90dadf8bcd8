import type { Fix, Problem } from '../problem.ts'
import type { LexError, Token } from './lexer.ts'
import { Lexer } from './lexer.ts'

/** After so many problems the rest is not worth reading, and hostile texts stay cheap. */
export const MOST_PROBLEMS = 100

/** What Conch adds to the original's text. */
export interface Advice {
  readonly hint?: string | undefined
  readonly fix?: Fix | undefined
  readonly expected?: string | undefined
}

interface Place {
  readonly line: number
  readonly column: number
  readonly offset: number
  readonly length: number
}

/** One token of lookahead over the text, the path of the field being read, and the problems found. */
export class Cursor {
  readonly text: string
  readonly problems: Problem[] = []
  readonly path: string[] = []
  token: Token
  previous: Token
  /** Set when reading on would only repeat itself: the end was reached while looking for a place to go on. */
  lost = false
  readonly lexer: Lexer
  adviseLexError: (error: LexError, cursor: Cursor) => Advice = () => ({})

  constructor(text: string, start: number) {
    this.text = text
    this.lexer = new Lexer(text, start, (error) => {
      this.report({ ...error, length: 1 }, error.message, () => this.adviseLexError(error, this))
    })
    this.token = { kind: 'end', start, end: start, line: 0, column: 0 }
    this.previous = this.token
  }

  advance(): void {
    this.previous = this.token
    this.token = this.lexer.next()
  }

  tokenText(): string {
    return this.text.slice(this.token.start, this.token.end)
  }

  /** Only for texts of one character. */
  isAt(symbol: string): boolean {
    return this.token.kind === 'symbol' && this.text.charAt(this.token.start) === symbol
  }

  tryTake(symbol: string): boolean {
    if (!this.isAt(symbol)) return false
    this.advance()
    return true
  }

  get isFull(): boolean {
    return this.lost || this.problems.length >= MOST_PROBLEMS
  }

  currentPath(): string {
    return this.path.join('.')
  }

  /** Reports at the current token. Always returns false, so that callers can end with it. */
  fail(original: string, advice: Advice = {}): false {
    const { token } = this
    const { line, column, start, end } = token
    this.report({ line, column, offset: start, length: end - start }, original, () => advice)
    return false
  }

  warn(token: Token, message: string, fix?: Fix): void {
    if (this.isFull) return
    this.problems.push({
      severity: 'warning',
      message: `${String(token.line + 1)}:${String(token.column + 1)}: ${message}`,
      original: '',
      code: 'INVALID_ARG',
      line: token.line + 1,
      column: token.column + 1,
      offset: token.start,
      length: token.end - token.start,
      path: this.currentPath(),
      fix,
    })
  }

  private report(at: Place, original: string, advise: () => Advice): void {
    if (this.isFull) return
    const isKnown = this.problems.some((problem) => problem.severity === 'error' && problem.offset === at.offset)
    if (isKnown) return
    const advice = advise()
    const path = this.currentPath()
    const located = `${String(at.line + 1)}:${String(at.column + 1)}: ${original}`
    this.problems.push({
      severity: 'error',
      message: located + describe(path, advice.hint),
      original: located,
      code: 'INVALID_ARG',
      line: at.line + 1,
      column: at.column + 1,
      offset: at.offset,
      length: at.length,
      path,
      expected: advice.expected,
      found: this.text.slice(at.offset, at.offset + Math.min(at.length, 60)),
      fix: advice.fix,
    })
  }
}

function describe(path: string, hint: string | undefined): string {
  const parts = [path === '' ? '' : `in ${path}`, hint ?? ''].filter((part) => part !== '')
  return parts.length === 0 ? '' : ` (${parts.join(': ')})`
}
