import { hexDigit, skipString } from './json-scan.ts'

const BACKSLASH = 0x5c
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Strings of at most this many bytes are remembered: member names, tensor names, datatypes come back all the time. */
const MAX_REMEMBERED = 48
const SLOTS = 512

interface Remembered {
  readonly bytes: Uint8Array
  readonly text: string
}
const remembered: (Remembered | undefined)[] = Array.from({ length: SLOTS })

/** Reads the string whose opening quote is at `at`; the text must have been skipped (validated) before. */
export function readString(s: Uint8Array, at: number): string {
  return readText(s, at + 1, skipString(s, at) - 1)
}

/** The text between two quotes. */
export function readText(s: Uint8Array, from: number, to: number): string {
  const length = to - from
  if (length === 0) return ''
  if (length > MAX_REMEMBERED) return decodeText(s, from, to)
  const slot = hash(s, from, length)
  const known = remembered[slot]
  if (known !== undefined && known.bytes.length === length && equals(s, from, known.bytes)) return known.text
  const text = decodeText(s, from, to)
  remembered[slot] = { bytes: s.slice(from, to), text }
  return text
}

/** For texts that do not come back, like request ids: does not disturb the remembered ones. */
export function readUniqueString(s: Uint8Array, at: number): string {
  return decodeText(s, at + 1, skipString(s, at) - 1)
}

function hash(s: Uint8Array, from: number, length: number): number {
  const middle = from + (length >> 1)
  let h = ((s[from] as number) << 8) | (s[from + length - 1] as number)
  h = Math.imul(h ^ ((s[middle] as number) << 16) ^ ((s[middle - 1] as number) << 24), 0x9e3779b1)
  return ((h >>> 16) ^ length) & (SLOTS - 1)
}

function equals(s: Uint8Array, from: number, other: Uint8Array): boolean {
  for (let i = 0; i < other.length; i += 1) if (s[from + i] !== other[i]) return false
  return true
}

/** Up to this length plain text is put together by hand: calling the decoder costs more. */
const MAX_BY_HAND = 24

function decodeText(s: Uint8Array, from: number, to: number): string {
  let text = ''
  let isPlain = to - from <= MAX_BY_HAND
  let isEscaped = false
  for (let i = from; i < to; i += 1) {
    const c = s[i] as number
    if (c === BACKSLASH) isEscaped = true
    if (c === BACKSLASH || c >= 0x80) isPlain = false
    if (isPlain) text += String.fromCharCode(c)
  }
  if (isPlain) return text
  if (!isEscaped) return decoder.decode(s.subarray(from, to))
  const out = new Uint8Array(to - from)
  return decoder.decode(out.subarray(0, unescapeInto(out, 0, s.subarray(from, to))))
}

/**
 * Writes the UTF-8 bytes that the inside of a valid JSON string stands for. Never more bytes than it reads.
 * Returns the position behind the last byte written.
 */
export function unescapeInto(out: Uint8Array, at: number, text: Uint8Array): number {
  let i = 0
  while (i < text.length) {
    const c = text[i] ?? 0
    if (c !== BACKSLASH) {
      out[at++] = c
      i += 1
      continue
    }
    const kind = text[i + 1] ?? 0
    if (kind !== 0x75) {
      out[at++] = unescapeByte(kind)
      i += 2
      continue
    }
    const first = hex4(text, i + 2)
    const pair = first >= 0xd800 && first <= 0xdbff
    const code = pair ? 0x10000 + ((first - 0xd800) << 10) + (hex4(text, i + 8) - 0xdc00) : first
    at = putCodePoint(out, at, code)
    i += pair ? 12 : 6
  }
  return at
}

function unescapeByte(kind: number): number {
  switch (kind) {
    case 0x62:
      return 8
    case 0x66:
      return 12
    case 0x6e:
      return 10
    case 0x72:
      return 13
    case 0x74:
      return 9
    default:
      return kind
  }
}

function hex4(text: Uint8Array, at: number): number {
  let code = 0
  for (let i = at; i < at + 4; i += 1) code = code * 16 + hexDigit(text[i] ?? 0)
  return code
}

function putCodePoint(out: Uint8Array, at: number, code: number): number {
  if (code < 0x80) {
    out[at] = code
    return at + 1
  }
  if (code < 0x800) {
    out[at] = 0xc0 | (code >> 6)
    out[at + 1] = 0x80 | (code & 63)
    return at + 2
  }
  if (code < 0x10000) {
    out[at] = 0xe0 | (code >> 12)
    out[at + 1] = 0x80 | ((code >> 6) & 63)
    out[at + 2] = 0x80 | (code & 63)
    return at + 3
  }
  out[at] = 0xf0 | (code >> 18)
  out[at + 1] = 0x80 | ((code >> 12) & 63)
  out[at + 2] = 0x80 | ((code >> 6) & 63)
  out[at + 3] = 0x80 | (code & 63)
  return at + 4
}
