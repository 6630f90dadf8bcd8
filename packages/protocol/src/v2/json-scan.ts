import { ConchError } from '../status.ts'

/**
 * Positions in JSON text held as UTF-8 bytes. Every function takes where a thing starts and returns where it ends;
 * the byte behind the last one reads as 0, which no JSON token contains. Texts and offsets of errors are those of
 * RapidJSON's iterative parser, which the original uses (reference: front door §1.2, §1.3).
 */
export const QUOTE = 0x22
export const COMMA = 0x2c
export const COLON = 0x3a
export const OPEN_ARRAY = 0x5b
export const CLOSE_ARRAY = 0x5d
export const OPEN_OBJECT = 0x7b
export const CLOSE_OBJECT = 0x7d
const BACKSLASH = 0x5c
const MINUS = 0x2d

export const MISS_NAME = 'Missing a name for object member.'
export const MISS_COLON = 'Missing a colon after a name of object member.'
export const MISS_MEMBER_END = 'Missing a comma or } after an object member.'
export const MISS_ELEMENT_END = 'Missing a comma or ] after an array element.'
const INVALID_VALUE = 'Invalid value.'

export function failJson(text: string, at: number): never {
  throw new ConchError('INTERNAL', `failed to parse the request JSON buffer: ${text} at ${at}`)
}

/** The byte there, 0 behind the end. */
export function byteAt(s: Uint8Array, at: number): number {
  return s[at] ?? 0
}

export function skipSpace(s: Uint8Array, at: number): number {
  let c = s[at] ?? 0
  while (c === 0x20 || c === 0x0a || c === 0x0d || c === 0x09) c = s[++at] ?? 0
  return at
}

export function isDigit(c: number): boolean {
  return c >= 0x30 && c <= 0x39
}

/** `at` is the opening quote. */
export function skipString(s: Uint8Array, at: number): number {
  for (;;) {
    const c = s[++at] ?? 0
    if (c === QUOTE) return at + 1
    if (c === BACKSLASH) at = skipEscape(s, at)
    else if (c < 0x20) {
      failJson(c === 0 ? 'Missing a closing quotation mark in string.' : 'Invalid encoding in string.', at)
    }
  }
}

/** Returns the last byte of the escape that starts at `at`. */
function skipEscape(s: Uint8Array, at: number): number {
  const c = s[at + 1] ?? 0
  if (c !== 0x75) {
    // " / \ b f n r t
    if (c !== 0 && '"/\\bfnrt'.includes(String.fromCharCode(c))) return at + 1
    failJson('Invalid escape character in string.', at)
  }
  const first = hex4(s, at + 2, at)
  if (first < 0xd800 || first > 0xdfff) return at + 5
  const paired = first <= 0xdbff && s[at + 6] === BACKSLASH && s[at + 7] === 0x75
  const second = paired ? hex4(s, at + 8, at) : 0
  if (second < 0xdc00 || second > 0xdfff) failJson('The surrogate pair in string is invalid.', at)
  return at + 11
}

function hex4(s: Uint8Array, at: number, escape: number): number {
  let code = 0
  for (let i = at; i < at + 4; i += 1) {
    const digit = hexDigit(s[i] ?? 0)
    if (digit < 0) failJson('Incorrect hex digit after \\u escape in string.', escape)
    code = code * 16 + digit
  }
  return code
}

export function hexDigit(c: number): number {
  if (isDigit(c)) return c - 0x30
  const letter = c | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}

/** `at` is the first byte of a string, number or literal. */
export function skipScalar(s: Uint8Array, at: number): number {
  const c = s[at] ?? 0
  if (c === QUOTE) return skipString(s, at)
  if (c === 0x74) return skipWord(s, at, 'true')
  if (c === 0x66) return skipWord(s, at, 'false')
  if (c === 0x6e) return skipWord(s, at, 'null')
  return skipNumber(s, at)
}

function skipWord(s: Uint8Array, at: number, word: string): number {
  for (let i = 0; i < word.length; i += 1) if (s[at + i] !== word.charCodeAt(i)) failJson(INVALID_VALUE, at + i)
  return at + word.length
}

export function skipNumber(s: Uint8Array, start: number): number {
  const from = s[start] === MINUS ? start + 1 : start
  if (!isDigit(s[from] ?? 0)) return skipNonFinite(s, from)
  const whole = s[from] === 0x30 ? from + 1 : skipDigits(s, from)
  const fraction = s[whole] === 0x2e ? skipFraction(s, whole + 1) : whole
  const isScaled = s[fraction] === 0x65 || s[fraction] === 0x45
  const end = isScaled ? skipExponent(s, fraction + 1) : fraction
  if ((isScaled || whole - from > 300) && !Number.isFinite(readNumber(s, start, end))) {
    failJson('Number too big to be stored in double.', start)
  }
  return end
}

function skipFraction(s: Uint8Array, at: number): number {
  if (!isDigit(s[at] ?? 0)) failJson('Miss fraction part in number.', at)
  return skipDigits(s, at)
}

function skipDigits(s: Uint8Array, at: number): number {
  while (isDigit(s[at] ?? 0)) at += 1
  return at
}

function skipExponent(s: Uint8Array, at: number): number {
  const c = s[at] ?? 0
  const from = c === 0x2b || c === MINUS ? at + 1 : at
  if (!isDigit(s[from] ?? 0)) failJson('Miss exponent in number.', from)
  return skipDigits(s, from)
}

/** NaN, Inf and Infinity, which the original takes for numbers. */
function skipNonFinite(s: Uint8Array, at: number): number {
  if (s[at] === 0x4e) return skipWord(s, at, 'NaN')
  if (s[at] !== 0x49) failJson(INVALID_VALUE, at)
  const end = skipWord(s, at, 'Inf')
  return s[end] === 0x69 ? skipWord(s, at, 'Infinity') : end
}

const ascii = new TextDecoder()

/** The text of a number that was skipped before. */
export function readNumberText(s: Uint8Array, at: number, end: number): string {
  if (end - at > 40) return ascii.decode(s.subarray(at, end))
  let text = ''
  for (let i = at; i < end; i += 1) text += String.fromCharCode(s[i] ?? 0)
  return text
}

/** The value of a number that was skipped before. */
export function readNumber(s: Uint8Array, at: number, end: number): number {
  const text = readNumberText(s, at, end)
  if (text.endsWith('NaN')) return Number.NaN
  if (text.includes('I')) return text.startsWith('-') ? -Infinity : Infinity
  return Number(text)
}

/** `at` is the first byte of a member's name; returns the first byte of its value. */
export function skipKey(s: Uint8Array, at: number): number {
  if (s[at] !== QUOTE) failJson(MISS_NAME, at)
  return skipColon(s, skipString(s, at))
}

/** From behind a member's name to its value. */
export function skipColon(s: Uint8Array, at: number): number {
  const colon = skipSpace(s, at)
  if (s[colon] !== COLON) failJson(MISS_COLON, colon)
  return skipSpace(s, colon + 1)
}

/** Skips any value, of any depth, without recursion. */
export function skipValue(s: Uint8Array, at: number): number {
  const c = s[at] ?? 0
  return c === OPEN_OBJECT || c === OPEN_ARRAY ? new Skipper(s).skip(at) : skipScalar(s, at)
}

class Skipper {
  readonly #bytes: Uint8Array
  /** The closing bracket of every open container. */
  #closers = new Uint8Array(32)
  #depth = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  skip(at: number): number {
    do {
      at = this.#enter(at)
      at = this.#leave(at)
    } while (this.#depth > 0)
    return at
  }

  /** Opens containers until a complete value has been passed. */
  #enter(at: number): number {
    const s = this.#bytes
    for (;;) {
      const c = s[at] ?? 0
      if (c !== OPEN_OBJECT && c !== OPEN_ARRAY) return skipScalar(s, at)
      const closer = c + 2
      at = skipSpace(s, at + 1)
      if (s[at] === closer) return at + 1
      this.#push(closer)
      if (c === OPEN_OBJECT) at = skipKey(s, at)
    }
  }

  /** Closes containers until another value is due, or none is open. */
  #leave(at: number): number {
    const s = this.#bytes
    while (this.#depth > 0) {
      at = skipSpace(s, at)
      const closer = this.#closers[this.#depth - 1]
      const c = s[at]
      if (c === closer) {
        this.#depth -= 1
        at += 1
      } else if (c === COMMA) {
        at = skipSpace(s, at + 1)
        return closer === CLOSE_OBJECT ? skipKey(s, at) : at
      } else failJson(closer === CLOSE_OBJECT ? MISS_MEMBER_END : MISS_ELEMENT_END, at)
    }
    return at
  }

  #push(closer: number): void {
    if (this.#depth === this.#closers.length) {
      const wider = new Uint8Array(this.#closers.length * 2)
      wider.set(this.#closers)
      this.#closers = wider
    }
    this.#closers[this.#depth] = closer
    this.#depth += 1
  }
}

/** Refuses anything but white space (or a NUL, which ends the original's buffer) behind the document. */
export function checkDocumentEnd(s: Uint8Array, at: number): void {
  const end = skipSpace(s, at)
  if ((s[end] ?? 0) !== 0) failJson('The document root must not be followed by other values.', end)
}

/** The first byte of the document, refusing an empty one. */
export function findDocumentStart(s: Uint8Array): number {
  const at = skipSpace(s, 0)
  const c = s[at] ?? 0
  // A stray bracket, comma or colon also counts as an empty document there.
  if (c === 0 || c === COMMA || c === COLON || c === CLOSE_ARRAY || c === CLOSE_OBJECT) {
    failJson('The document is empty.', at)
  }
  return at
}
