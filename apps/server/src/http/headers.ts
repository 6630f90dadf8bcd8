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
  const headers: RequestHeaders = {
    contentLength: undefined,
    contentEncoding: undefined,
    acceptEncoding: undefined,
    transferEncoding: undefined,
    inferenceLength: undefined,
    origin: undefined,
    expect: undefined,
    te: undefined,
  }
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] ?? ''
    if (NAMES.has(name.length)) keep(headers, name, raw[i + 1])
  }
  return headers
}

/** Lengths of the names below. */
const NAMES: ReadonlySet<number> = new Set([2, 6, 14, 15, 16, 17, 31])

/** Writes to named fields: one written to by a computed name costs a multiple. */
function keep(headers: RequestHeaders, name: string, value: string | undefined): void {
  switch (name.toLowerCase()) {
    case 'content-length':
      headers.contentLength ??= value
      break
    case 'inference-header-content-length':
      headers.inferenceLength ??= value
      break
    case 'accept-encoding':
      headers.acceptEncoding ??= value
      break
    case 'content-encoding':
      headers.contentEncoding ??= value
      break
    case 'transfer-encoding':
      headers.transferEncoding ??= value
      break
    case 'origin':
      headers.origin ??= value
      break
    case 'expect':
      headers.expect ??= value
      break
    case 'te':
      headers.te ??= value
      break
    default:
  }
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
