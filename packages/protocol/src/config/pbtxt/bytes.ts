/**
 * Strings of the text format are bytes. They are held as JavaScript strings; a byte that is not part of valid UTF-8
 * becomes the lone surrogate U+DC00 + byte, so that nothing is lost between reading and printing.
 */
export function decodeBytes(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return decodeLoosely(bytes)
  }
}

function decodeLoosely(bytes: Uint8Array): string {
  const parts: string[] = []
  let at = 0
  while (at < bytes.length) {
    const point = readPoint(bytes, at)
    if (point === undefined) {
      parts.push(String.fromCharCode(0xdc00 + (bytes[at] ?? 0)))
      at += 1
    } else {
      parts.push(String.fromCodePoint(point))
      at += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4
    }
  }
  return parts.join('')
}

/** The least code point that needs so many bytes. */
const SMALLEST = [0, 0, 0x80, 0x800, 0x10000]

function readPoint(bytes: Uint8Array, at: number): number | undefined {
  const first = bytes[at] ?? 0
  if (first < 0x80) return first
  const size = sequenceSize(first)
  let point = first & (0xff >> (size + 1))
  for (let next = 1; next < size; next += 1) {
    const byte = bytes[at + next] ?? 0
    if ((byte & 0xc0) !== 0x80) return undefined
    point = (point << 6) | (byte & 0x3f)
  }
  return size > 0 && point >= (SMALLEST[size] ?? 0) && isScalarValue(point) ? point : undefined
}

function isScalarValue(point: number): boolean {
  return point < 0xd800 || (point >= 0xe000 && point <= 0x10ffff)
}

/** By the first byte; 0 for one that starts nothing. */
function sequenceSize(first: number): number {
  if (first < 0xc0 || first >= 0xf8) return 0
  if (first < 0xe0) return 2
  return first < 0xf0 ? 3 : 4
}

/** The bytes of a held string. */
export function encodeBytes(text: string): Uint8Array {
  const plain = new TextEncoder()
  if (text.isWellFormed()) return plain.encode(text)
  const bytes: number[] = []
  for (const char of text) {
    const point = char.codePointAt(0) ?? 0
    if (point >= 0xdc80 && point <= 0xdcff) bytes.push(point - 0xdc00)
    else bytes.push(...plain.encode(char))
  }
  return Uint8Array.from(bytes)
}

const SIMPLE: Readonly<Record<string, number>> = {
  a: 7,
  b: 8,
  f: 12,
  n: 10,
  r: 13,
  t: 9,
  v: 11,
  '\\': 92,
  '?': 63,
  "'": 39,
  '"': 34,
}

/** The bytes that one string literal stands for, quotes included in `literal`; a missing end quote is allowed. */
export function unescapeLiteral(literal: string): string {
  const last = literal.length > 1 && literal.endsWith(literal.charAt(0)) ? literal.length - 1 : literal.length
  const inner = literal.slice(1, last)
  if (!inner.includes('\\')) return inner
  const bytes: number[] = []
  const pattern =
    /\\(?:([0-7]{1,3})|[xX]([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})|U(00(?:0[0-9a-fA-F]|10)[0-9a-fA-F]{4})|([\s\S]))|[^\\]+|\\/g
  let high = 0
  for (const match of inner.matchAll(pattern)) {
    const [whole, octal, hex, short, long, simple] = match
    if (octal !== undefined) bytes.push(parseInt(octal, 8) & 0xff)
    else if (hex !== undefined) bytes.push(parseInt(hex, 16))
    else if (short !== undefined || long !== undefined) {
      const point = parseInt(short ?? long ?? '', 16)
      high = pushPoint(bytes, point, high)
      continue
    } else if (simple !== undefined) bytes.push(...simpleBytes(simple))
    else bytes.push(...encodeBytes(whole))
    high = 0
  }
  return decodeBytes(Uint8Array.from(bytes))
}

function simpleBytes(char: string): Uint8Array | number[] {
  const code = SIMPLE[char]
  return code === undefined ? encodeBytes(`\\${char}`) : [code]
}

/** `\ud83d\ude00` is one character: returns the high half that waits for its low one, or 0. */
function pushPoint(bytes: number[], point: number, high: number): number {
  if (high !== 0 && point >= 0xdc00 && point < 0xe000) {
    bytes.splice(-3)
    bytes.push(...new TextEncoder().encode(String.fromCharCode(high, point)))
    return 0
  }
  if (point >= 0xd800 && point < 0xe000) {
    bytes.push(0xe0 | (point >> 12), 0x80 | ((point >> 6) & 0x3f), 0x80 | (point & 0x3f))
    return point < 0xdc00 ? point : 0
  }
  bytes.push(...new TextEncoder().encode(String.fromCodePoint(point)))
  return 0
}

/** A literal in double quotes with the escapes of the original's printer; valid UTF-8 beyond ASCII stays readable. */
export function quoteLiteral(text: string): string {
  // oxlint-disable-next-line no-control-regex
  const body = text.replace(/[\\"'\u0000-\u001f\u007f]|[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]/g, escapeChar)
  return `"${body}"`
}

function escapeChar(char: string): string {
  if (char.length === 2) return char
  const code = char.charCodeAt(0)
  if (char === '\n') return '\\n'
  if (char === '\r') return '\\r'
  if (char === '\t') return '\\t'
  if (char === '"' || char === '\\' || char === "'") return `\\${char}`
  if (code >= 0xdc80 && code <= 0xdcff) return octal(code - 0xdc00)
  if (code >= 0xd800) return [...new TextEncoder().encode(char)].map(octal).join('')
  return octal(code)
}

function octal(byte: number): string {
  return `\\${byte.toString(8).padStart(3, '0')}`
}
