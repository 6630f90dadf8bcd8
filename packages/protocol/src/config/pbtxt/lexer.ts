export type TokenKind = 'identifier' | 'integer' | 'float' | 'string' | 'symbol' | 'end'

/** A token; `line` and `column` are 0-based and counted as the original does: bytes, tabs to the next multiple of 8. */
export interface Token {
  readonly kind: TokenKind
  readonly start: number
  readonly end: number
  readonly line: number
  readonly column: number
}
export interface LexError {
  readonly message: string
  readonly offset: number
  readonly line: number
  readonly column: number
}

const codesOf = (text: string): ReadonlySet<number> => new Set(Array.from(text, (char) => char.charCodeAt(0)))
const SIMPLE_ESCAPES = codesOf('abfnrtv\\?\'"')
const NEWLINE = 10
const TAB = 9

/**
 * Reads tokens one by one, as the tokenizer of the original: errors are reported when the token they belong to is
 * reached and never stop the reading. Every character is looked at once or twice whatever the text holds.
 */
export class Lexer {
  readonly text: string
  readonly comments: { readonly start: number; readonly end: number }[] = []
  private readonly onError: (error: LexError) => void
  private at = 0
  /** Where `line` and `column` are right; never behind a token's start. */
  private counted = 0
  private line = 0
  private column = 0
  private previousEnd = -1
  private previousIsIdentifier = false

  constructor(text: string, start: number, onError: (error: LexError) => void) {
    this.text = text
    this.at = start
    this.counted = start
    this.onError = onError
  }

  next(): Token {
    this.skipBlank()
    const start = this.at
    this.count(start)
    const { line, column } = this
    const kind = start >= this.text.length ? 'end' : this.readToken(start)
    this.previousEnd = this.at
    this.previousIsIdentifier = kind === 'identifier'
    return { kind, start, end: this.at, line, column }
  }

  private readToken(start: number): TokenKind {
    const code = this.text.charCodeAt(start)
    if (isLetter(code)) {
      this.at += 1
      this.skipWhile(isWord)
      return 'identifier'
    }
    if (isDigit(code)) return this.readNumber(code === 48, false)
    if (code === 46) return this.readDot(start)
    if (code === 34 || code === 39) return this.readString(code)
    return this.readSymbol(code)
  }

  private readSymbol(code: number): TokenKind {
    if (code >= 128) this.fail(`Interpreting non ascii codepoint ${String(firstByte(this.text, this.at))}.`)
    this.at += code >= 0xd800 && code < 0xdc00 && isLow(this.text.charCodeAt(this.at + 1)) ? 2 : 1
    return 'symbol'
  }

  private readDot(start: number): TokenKind {
    this.at += 1
    if (!isDigit(this.code())) return 'symbol'
    if (this.previousIsIdentifier && this.previousEnd === start) {
      this.at += 1
      this.fail('Need space between identifier and decimal point.', -2)
    }
    return this.readNumber(false, true)
  }

  private readNumber(zero: boolean, dot: boolean): TokenKind {
    if (!dot) this.at += 1
    const next = this.code()
    if (zero && (next === 120 || next === 88)) {
      this.at += 1
      if (!isHex(this.code())) this.fail('"0x" must be followed by hex digits.')
      this.skipWhile(isHex)
      return this.endNumber(false)
    }
    if (zero && isDigit(next)) {
      this.skipWhile(isOctal)
      if (isDigit(this.code())) this.fail('Numbers starting with leading zero must be in octal.')
      this.skipWhile(isDigit)
      return this.endNumber(false)
    }
    return this.endNumber(this.readFraction(dot))
  }

  private readFraction(dot: boolean): boolean {
    let isFloat = dot
    this.skipWhile(isDigit)
    if (!dot && this.code() === 46) {
      isFloat = true
      this.at += 1
      this.skipWhile(isDigit)
    }
    if (this.code() === 101 || this.code() === 69) {
      isFloat = true
      this.at += 1
      if (this.code() === 45 || this.code() === 43) this.at += 1
      if (!isDigit(this.code())) this.fail('"e" must be followed by exponent.')
      this.skipWhile(isDigit)
    }
    if (this.code() === 102 || this.code() === 70) {
      isFloat = true
      this.at += 1
    }
    return isFloat
  }

  private endNumber(isFloat: boolean): TokenKind {
    if (isLetter(this.code())) this.fail('Need space between number and identifier.')
    else if (this.code() === 46) {
      this.fail(
        isFloat
          ? "Already saw decimal point or exponent; can't have another one."
          : 'Hex and octal numbers must be integers.',
      )
    }
    return isFloat ? 'float' : 'integer'
  }

  private readString(quote: number): TokenKind {
    this.at += 1
    for (;;) {
      const code = this.code()
      if (this.at >= this.text.length || code === 0) {
        this.fail('Unexpected end of string.')
        return 'string'
      }
      if (code === NEWLINE) {
        this.fail('String literals cannot cross line boundaries.')
        return 'string'
      }
      this.at += 1
      if (code === quote) return 'string'
      if (code === 92) this.readEscape()
    }
  }

  private readEscape(): void {
    const code = this.code()
    if (SIMPLE_ESCAPES.has(code) || isOctal(code)) {
      this.at += 1
    } else if (code === 120 || code === 88) {
      this.at += 1
      if (isHex(this.code())) this.at += 1
      else this.fail('Expected hex digits for escape sequence.')
    } else if (code === 117) {
      this.at += 1
      if (!this.takePattern([isHex, isHex, isHex, isHex]))
        this.fail('Expected four hex digits for \\u escape sequence.')
    } else if (code === 85) {
      this.at += 1
      const digits = [isZero, isZero, isZeroOrOne, isHex, isHex, isHex, isHex, isHex]
      if (!this.takePattern(digits)) this.fail('Expected eight hex digits up to 10ffff for \\U escape sequence')
    } else {
      this.fail('Invalid escape sequence in string literal.')
    }
  }

  private takePattern(pattern: readonly ((code: number) => boolean)[]): boolean {
    for (const accepts of pattern) {
      if (!accepts(this.code())) return false
      this.at += 1
    }
    return true
  }

  private skipBlank(): void {
    for (;;) {
      this.skipWhile(isSpace)
      const code = this.code()
      if (code === 35) this.skipComment()
      else if (this.at < this.text.length && isControl(code)) {
        this.fail('Invalid control characters encountered in text.')
        while (this.at < this.text.length && isControl(this.code())) this.at += 1
      } else return
    }
  }

  /** To the end of the line or a NUL, as the original. */
  private skipComment(): void {
    const start = this.at
    while (this.at < this.text.length && this.code() !== NEWLINE && this.code() !== 0) this.at += 1
    this.comments.push({ start, end: this.at })
  }

  private skipWhile(accepts: (code: number) => boolean): void {
    while (this.at < this.text.length && accepts(this.text.charCodeAt(this.at))) this.at += 1
  }

  /** NaN past the end, which no class accepts. */
  private code(): number {
    return this.text.charCodeAt(this.at)
  }

  private fail(message: string, shift = 0): void {
    this.count(this.at)
    this.onError({ message, offset: this.at + shift, line: this.line, column: this.column + shift })
  }

  private count(to: number): void {
    for (let at = this.counted; at < to; at += 1) {
      const code = this.text.charCodeAt(at)
      if (code === NEWLINE) {
        this.line += 1
        this.column = 0
      } else if (code === TAB) this.column += 8 - (this.column % 8)
      else this.column += byteLength(code)
    }
    this.counted = Math.max(this.counted, to)
  }
}

/** UTF-8 bytes of one UTF-16 unit: a pair of surrogates has 4, two for each; a byte kept as a lone one (bytes.ts) is rare. */
function byteLength(code: number): number {
  if (code < 0x80) return 1
  if (code < 0x800) return 2
  return code >= 0xd800 && code < 0xe000 ? 2 : 3
}

function firstByte(text: string, at: number): number {
  const point = text.codePointAt(at) ?? 0
  if (point >= 0xdc80 && point <= 0xdcff) return point - 0xdc00
  if (point < 0x800) return 0xc0 | (point >> 6)
  return point < 0x10000 ? 0xe0 | (point >> 12) : 0xf0 | (point >> 18)
}

function isLow(code: number): boolean {
  return code >= 0xdc00 && code < 0xe000
}
export function isSpace(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13)
}
function isControl(code: number): boolean {
  return code < 32 && !isSpace(code)
}
export function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}
function isOctal(code: number): boolean {
  return code >= 48 && code <= 55
}
function isZero(code: number): boolean {
  return code === 48
}
function isZeroOrOne(code: number): boolean {
  return code === 48 || code === 49
}
function isHex(code: number): boolean {
  return isDigit(code) || (code >= 97 && code <= 102) || (code >= 65 && code <= 70)
}
export function isLetter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95
}
export function isWord(code: number): boolean {
  return isLetter(code) || isDigit(code)
}
