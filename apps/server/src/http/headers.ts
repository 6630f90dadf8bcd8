/** The header values that routes and Node itself read, found in one pass; undefined = absent. The first occurrence counts. */
export type RequestHeaders = {
  contentLength: string | undefined
  contentEncoding: string | undefined
  acceptEncoding: string | undefined
  transferEncoding: string | undefined
  inferenceLength: string | undefined
  origin: string | undefined
  expect: string | undefined
  te: string | undefined
}

/** One pass over the names as they came; most requests carry a handful, and few of them matter here. */
export function readHeaders(raw: readonly string[]): RequestHeaders {
  // An array and not the object itself: a field that is written by a computed name costs a multiple.
  const values: (string | undefined)[] = [...ABSENT]
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] ?? ''
    const place = LENGTHS.has(name.length) ? PLACES.get(name.toLowerCase()) : undefined
    if (place !== undefined) values[place] ??= raw[i + 1]
  }
  const [contentLength, inferenceLength, acceptEncoding, contentEncoding, transferEncoding, origin, expect, te] = values
  return { contentLength, inferenceLength, acceptEncoding, contentEncoding, transferEncoding, origin, expect, te }
}

const NAMES = [
  'content-length',
  'inference-header-content-length',
  'accept-encoding',
  'content-encoding',
  'transfer-encoding',
  'origin',
  'expect',
  'te',
] as const
const ABSENT: readonly undefined[] = NAMES.map(() => undefined)
const LENGTHS: ReadonlySet<number> = new Set(NAMES.map((name) => name.length))
const PLACES: ReadonlyMap<string, number> = new Map(NAMES.map((name, place) => [name, place]))

/** What `Number` makes of a text; for digits alone, which a length is, several times faster. */
export function readLength(text: string): number {
  const length = readDigits(text)
  return length < 0 ? Number(text) : length
}

/** The number that a text of digits stands for, −1 for any other text. */
export function readDigits(text: string): number {
  let value = text === '' ? -1 : 0
  for (let i = 0; i < text.length; i += 1) {
    const digit = text.charCodeAt(i) - 0x30
    if (digit < 0 || digit > 9) return -1
    value = value * 10 + digit
  }
  return value
}

/** The value of any header, by name in any case. */
export function findHeader(raw: readonly string[], name: string): string | undefined {
  const wanted = name.toLowerCase()
  for (let i = 0; i < raw.length; i += 2) if (raw[i]?.toLowerCase() === wanted) return raw[i + 1]
  return undefined
}

export type ResponseEncoding = 'identity' | 'gzip' | 'deflate'

/** Highest weight wins, the first listed among equals; unknown codings and `*` are ignored (reference: http §6.4). */
export function chooseEncoding(accept: string | undefined): ResponseEncoding {
  if (accept === undefined) return 'identity'
  let best: ResponseEncoding = 'identity'
  let bestWeight = 0
  for (const item of accept.split(',')) {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim())
    if (name !== 'gzip' && name !== 'deflate' && name !== 'identity') continue
    const q = parameters.find((parameter) => parameter.startsWith('q='))
    const weight = q === undefined ? 1 : Number(q.slice(2))
    if (weight > bestWeight) {
      best = name
      bestWeight = weight
    }
  }
  return best
}
