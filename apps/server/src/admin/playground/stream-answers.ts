import { newTimings, type InferContext } from '@conch/engine'
import { ConchError, type InferRequest, type InferResponse } from '@conch/protocol'
import type { z } from 'zod'
import type { AdminContext, Services } from '../context.ts'
import { explainFailure } from './explain-failure.ts'
import type { OutputView, StreamEvent, streamSchema } from './playground.schema.ts'
import { countBytes, limitPatience, printResponse, readRequest, readTimes, viewResponse } from './run-inference.ts'

/** Answers that are shown; of those behind them only the number is told. */
const SHOWN = 200
/** Answers that wait to be shown. */
const WAITING = 50
/** Bytes of an answer that travels whole: many of them come through one socket. */
const WHOLE = 65_536
const SHORT = 100

interface Arrival {
  readonly response: InferResponse
  /** Counts all answers, also those that are left out. */
  readonly index: number
  readonly at: number
}

/** Asks a model that answers any number of times, and hands on each answer when it comes. Ends when the listener leaves. */
export async function* streamAnswers(
  { services }: AdminContext,
  input: z.infer<typeof streamSchema>,
  gone: AbortSignal | undefined,
): AsyncGenerator<StreamEvent, void, undefined> {
  const timings = newTimings()
  const began = performance.now()
  const left = new AbortController()
  const signal = AbortSignal.any([limitPatience(gone), left.signal])
  const inbox = new Inbox()
  let failure: unknown = undefined
  signal.addEventListener('abort', () => inbox.end())
  try {
    const request = readRequest(input)
    const running = listen(services, { request, context: { timings, signal }, inbox }).catch((error: unknown) => {
      failure = error ?? new ConchError('UNKNOWN', '')
    })
    for (;;) {
      const arrival = await inbox.next()
      if (arrival === undefined) break
      yield await describe(services, request, { ...arrival, began })
    }
    // A model may go on for a while after nobody listens any more.
    if (signal.aborted)
      failure = new ConchError('CANCELLED', 'the request was cancelled, or took longer than the playground waits')
    else await running
  } catch (error) {
    failure = error
  } finally {
    left.abort()
  }
  const error = failure === undefined ? undefined : await explainFailure(services, input, failure)
  const timing = readTimes(timings, performance.now() - began)
  yield { kind: 'end', status: error?.httpStatus ?? 200, timing, answers: inbox.taken, ...(error && { error }) }
}

/** Answers between the model and a reader that may be slower; what is too many is counted only. */
class Inbox {
  taken = 0
  #ended = false
  #wake = () => {}
  readonly #waiting: Arrival[] = []

  put(response: InferResponse): void {
    this.taken += 1
    if (this.taken > SHOWN || this.#waiting.length >= WAITING) return
    this.#waiting.push({ response, index: this.taken - 1, at: performance.now() })
    this.#wake()
  }

  end(): void {
    this.#ended = true
    this.#wake()
  }

  /** Undefined when there will be no more. */
  async next(): Promise<Arrival | undefined> {
    for (;;) {
      const arrival = this.#waiting.shift()
      if (arrival !== undefined) return arrival
      if (this.#ended) return undefined
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }
}

interface Listening {
  readonly request: InferRequest
  readonly context: InferContext
  readonly inbox: Inbox
}

async function listen({ engine }: Services, { request, context, inbox }: Listening): Promise<void> {
  try {
    await engine.stream(request, (response) => inbox.put(response), context)
  } finally {
    inbox.end()
  }
}

async function describe(
  { engine }: Services,
  request: InferRequest,
  { response, at, began, index }: Arrival & { readonly began: number },
): Promise<StreamEvent> {
  const small = countBytes(response) <= WHOLE
  const outputs = await viewResponse(engine, response)
  return {
    kind: 'answer',
    index,
    atUs: Math.round((at - began) * 1000),
    outputs: small ? outputs : outputs.map(shorten),
    response: small ? printResponse(engine, request, response) : null,
  }
}

function shorten({ bytesBase64: _bytes, ...view }: OutputView): OutputView {
  return { ...view, preview: view.preview.slice(0, SHORT) }
}
