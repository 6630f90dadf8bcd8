/** The header values that routes read, found in one pass; undefined = absent. The first occurrence counts. */
export interface RequestHeaders {
  contentLength: string | undefined
  contentEncoding: string | undefined
  acceptEncoding: string | undefined
  transferEncoding: string | undefined
  inferenceLength: string | undefined
  origin: string | undefined
}

/** One pass over the names as they came; most requests carry a handful, and few of them matter here. */
export function readHeaders(raw: readonly string[]): RequestHeaders {
  const headers: RequestHeaders = {
    contentLength: undefined,
    contentEncoding: undefined,
    acceptEncoding: undefined,
    transferEncoding: undefined,
    inferenceLength: undefined,
    origin: undefined,
  }
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] ?? ''
    const field = FIELDS[name.length]
    if (field === undefined || (name !== field.name && name.toLowerCase() !== field.name)) continue
    headers[field.key] ??= raw[i + 1]
  }
  return headers
}

/** By length of the name: no two of them share one. */
const FIELDS: readonly ({ readonly name: string; readonly key: keyof RequestHeaders } | undefined)[] = byLength([
  ['origin', 'origin'],
  ['content-length', 'contentLength'],
  ['accept-encoding', 'acceptEncoding'],
  ['content-encoding', 'contentEncoding'],
  ['transfer-encoding', 'transferEncoding'],
  ['inference-header-content-length', 'inferenceLength'],
])

function byLength(fields: readonly (readonly [string, keyof RequestHeaders])[]) {
  const table: ({ name: string; key: keyof RequestHeaders } | undefined)[] = new Array(32).fill(undefined)
  for (const [name, key] of fields) table[name.length] = { name, key }
  return table
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
