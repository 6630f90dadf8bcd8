import type { Trace, TraceActivity, TracedRequest } from '@conch/engine'
import { randomHex } from '@conch/engine'
import type { SpanContext } from './context.ts'

export interface Span {
  /** Hexadecimal, as all ids. */
  readonly traceId: string
  readonly spanId: string
  /** '' = none. */
  readonly parentId: string
  readonly state: string
  readonly name: string
  /** Stamps; so are the events'. */
  readonly start: number
  readonly end: number
  readonly attributes: Readonly<Record<string, string | number>>
  readonly events: readonly TraceActivity[]
  /** '' = it ended well. */
  readonly error: string
}

/** A trace as spans, outermost first (reference: trace-logging §3). `rootId`: of the span of the whole call. */
export function makeSpans(trace: Trace, call: { readonly context: SpanContext; readonly rootId: string }): Span[] {
  const { context, rootId } = call
  const { root, requests } = trace
  const own = root.activities.filter(({ name }) => FACE.test(name))
  const base = { traceId: context.traceId, state: context.state }
  const end = own.at(-1)?.at ?? root.stamps.at(-1)?.at ?? 0
  const first = { attributes: {}, events: own, error: describe(root.error) }
  const start = own[0]?.at ?? end
  const call_ = { ...base, ...first, spanId: rootId, parentId: context.spanId, name: 'InferRequest', start, end }
  const taken = requests.filter(({ model }) => model !== '')
  return [call_, ...taken.flatMap((request) => spanRequest(request, { ...base, rootId }))]
}

/** What the call as a whole has to say; the rest is the model's. */
const FACE = /^(HTTP|GRPC)_(RECV|WAITREAD|SEND)_|^INFER_RESPONSE_COMPLETE$/

interface Base {
  readonly traceId: string
  readonly state: string
  readonly rootId: string
}

function spanRequest(request: TracedRequest, { traceId, state, rootId }: Base): Span[] {
  const { stamps, parent, model, version, requestId, id } = request
  const of = (compute: boolean) => stamps.filter(({ name }) => name.startsWith('COMPUTE_') === compute)
  const [life, compute] = [of(false), of(true)]
  const custom = splitCustom(request.activities.filter(({ name }) => !FACE.test(name)))
  const base = { traceId, state, error: '' }
  const computes = compute.length > 0
  const own: Span = {
    ...base,
    spanId: request.spanId,
    parentId: parent?.spanId ?? rootId,
    name: model,
    ...bounds(life),
    attributes: {
      'triton.model_name': model,
      'triton.model_version': Number(version),
      'triton.trace_id': id,
      'triton.trace_parent_id': parent?.id ?? 0,
      ...(requestId === '' ? {} : { 'triton.request_id': requestId }),
    },
    events: computes ? life : [...life, ...custom.events],
    error: describe(request.error),
  }
  if (!computes) return [own, ...custom.spans.map((one) => ({ ...base, ...one, parentId: own.spanId }))]
  const inner: Span = {
    ...base,
    spanId: request.computeId,
    parentId: own.spanId,
    name: 'compute',
    ...bounds(compute),
    attributes: {},
    events: [...compute, ...custom.events],
  }
  return [own, inner, ...custom.spans.map((one) => ({ ...base, parentId: inner.spanId, ...one }))]
}

function bounds(stamps: readonly TraceActivity[]): { readonly start: number; readonly end: number } {
  const start = stamps[0]?.at ?? 0
  return { start, end: stamps.at(-1)?.at ?? start }
}

type CustomSpan = Pick<Span, 'spanId' | 'name' | 'start' | 'end' | 'attributes' | 'events'> & {
  readonly parentId?: string
}

/** `X_START` … `X_END` is a span named X, inside the one that was open then; any other name is an event of that one. */
function splitCustom(activities: readonly TraceActivity[]) {
  const events: TraceActivity[] = []
  const spans: (CustomSpan & { parentId?: string })[] = []
  const open: { readonly spanId: string; readonly name: string; readonly start: number; events: TraceActivity[] }[] = []
  for (const activity of activities) {
    const begins = /^(.+)_START$/.exec(activity.name)?.[1]
    const ends = /^(.+)_END$/.exec(activity.name)?.[1]
    const innermost = open.at(-1)
    if (begins !== undefined) open.push({ spanId: randomHex(8), name: begins, start: activity.at, events: [activity] })
    else if (ends === undefined || innermost?.name !== ends) (innermost?.events ?? events).push(activity)
    else {
      open.pop()
      const parent = open.at(-1)
      const closed = { ...innermost, end: activity.at, attributes: {}, events: [...innermost.events, activity] }
      spans.push(parent === undefined ? closed : { ...closed, parentId: parent.spanId })
    }
  }
  return { events: [...events, ...open.flatMap((one) => one.events)], spans }
}

function describe(error: unknown): string {
  if (error === undefined) return ''
  const text = error instanceof Error ? error.message : 'failed'
  return text === '' ? 'failed' : text
}
