/** A trace that a client has begun (W3C Trace Context). */
export interface SpanContext {
  /** 16 bytes, hexadecimal. */
  readonly traceId: string
  /** The span that called us: 8 bytes, hexadecimal. */
  readonly spanId: string
  /** '' = none. */
  readonly state: string
}

const PARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/
const MOST_STATE = 512

/** Undefined for what is not a valid `traceparent`: such a request begins a trace of its own. */
export function parseContext(parent: string | undefined, state: string | undefined): SpanContext | undefined {
  if (parent === undefined) return undefined
  const [, version, traceId = '', spanId = '', more] = PARENT.exec(parent.trim()) ?? []
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined
  if (ZEROS.test(traceId) || ZEROS.test(spanId)) return undefined
  return { traceId, spanId, state: boundState(state) }
}

const ZEROS = /^0+$/

function boundState(state = ''): string {
  return state.length > MOST_STATE ? '' : state
}

/** The JSON text that a model may continue. */
export function printContext({ traceId, spanId, state }: SpanContext): string {
  const traceparent = `00-${traceId}-${spanId}-01`
  return JSON.stringify(state === '' ? { traceparent } : { traceparent, tracestate: state })
}
