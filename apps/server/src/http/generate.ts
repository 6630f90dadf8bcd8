import { ConchError, encodeGenerateResponse, HTTP_STATUS } from '@conch/protocol'
import type { InferRequest, InferResponse } from '@conch/protocol'
import { newTimings } from '@conch/engine'
import type { Exchange } from './exchange.ts'
import { checkVersion } from './infer.ts'
import { readBody } from './read-body.ts'
import { checkJsonSize } from './read-json.ts'
import { addConnection, errorBody, toConchError } from './reply.ts'
import { watchExchange } from './watch.ts'
import type { Watch } from '../tracing/watch.ts'

const ONE_ONLY =
  'generate expects model to produce exactly 1 response, use generate stream for model that generates various number of responses'

/** `POST …/generate`: one JSON object, sent as one chunk (reference: http §9.4). */
export async function answerGenerate(exchange: Exchange): Promise<void> {
  const watch = watchExchange(exchange)
  const request = await readGenerate(exchange, watch)
  const texts: Uint8Array[] = []
  let status = 200
  try {
    await run(exchange, request, {
      watch,
      onResponse: (response) => {
        if (texts.length < 2) texts.push(encodeGenerateResponse(response))
      },
      onError: (error) => {
        if (texts.length === 0) status = HTTP_STATUS[error.code]
        if (texts.length < 2) texts.push(errorBody(error.message))
      },
    })
  } catch (error) {
    const known = throwIfRefused(exchange, error)
    if (texts.length === 0) status = HTTP_STATUS[known.code]
    texts.length = 0
    texts.push(errorBody(known.message))
  }
  if (exchange.res.destroyed) return
  openChunked(exchange, status, 'application/json')
  watch.sending()
  const [text] = texts
  const body = texts.length === 1 ? text : errorBody(ONE_ONLY)
  exchange.sentBytes = body?.length ?? 0
  exchange.res.end(body)
}

/** `POST …/generate_stream`: one event per response; the first one chooses the status (reference: http §9.5). */
export async function answerGenerateStream(exchange: Exchange): Promise<void> {
  const watch = watchExchange(exchange)
  const request = await readGenerate(exchange, watch)
  const { res } = exchange
  const emit = (status: number, text: Uint8Array) => {
    watch.sending()
    if (res.destroyed) return
    if (!res.headersSent) openChunked(exchange, status, 'text/event-stream; charset=utf-8')
    const event = Buffer.concat([DATA, text, END])
    exchange.sentBytes += event.length
    res.write(event)
    // A reader that stands still while the model goes on: its connection ends instead of our memory.
    if (res.writableLength > MAX_UNREAD) res.destroy()
  }
  try {
    await run(exchange, request, {
      watch,
      onResponse: (response) => emit(200, encodeGenerateResponse(response)),
      onError: (error) => emit(HTTP_STATUS[error.code], errorBody(error.message)),
    })
  } catch (error) {
    const known = res.headersSent ? toConchError(exchange, unwrap(error)) : throwIfRefused(exchange, error)
    emit(HTTP_STATUS[known.code], errorBody(known.message))
  }
  if (res.destroyed) return
  if (!res.headersSent) openChunked(exchange, 200, 'text/event-stream; charset=utf-8')
  res.end()
}

const DATA = Buffer.from('data: ')
const END = Buffer.from('\n\n')
const MAX_UNREAD = 64 * 1024 * 1024

async function readGenerate(exchange: Exchange, watch: Watch): Promise<InferRequest> {
  const { face, model, version, headers } = exchange
  checkVersion(version)
  const metadata = face.engine.metadata(model, version)
  const encoding = headers.contentEncoding
  if (encoding !== undefined && encoding !== '' && encoding !== 'identity') {
    throw new ConchError('INVALID_ARG', "Unsupported content-encoding, only 'identity' is supported.")
  }
  const target = { model, version, maxInputSize: face.options.maxInputSize }
  checkJsonSize(Number(headers.contentLength ?? 0), target.maxInputSize)
  const body = await readBody(exchange, target.maxInputSize + 1)
  watch.received(body.length)
  return face.workers.parseGenerate(body, metadata.inputs, target)
}

/** Marks an error from before the model ran. */
class Refused {
  readonly error: unknown
  constructor(error: unknown) {
    this.error = error
  }
}

/** Takes what a model sends before its request ends; errors among responses end nothing. */
interface Listener {
  readonly watch: Watch
  readonly onResponse: (response: InferResponse) => void
  readonly onError: (error: ConchError) => void
}

/** Throws `Refused` for what failed before the model ran, and the error itself for anything later. */
async function run(exchange: Exchange, request: InferRequest, listener: Listener): Promise<void> {
  const { face, connection } = exchange
  const timings = newTimings()
  const trace = listener.watch.begin(request, timings)
  const controller = new AbortController()
  let failure: unknown
  // A response that cannot be written down ends the request; the engine must not see that error.
  const deliver = (response: InferResponse) => {
    try {
      if (failure === undefined) listener.onResponse(response)
    } catch (error) {
      failure = error
      controller.abort()
    }
  }
  try {
    await face.engine.stream(request, deliver, {
      signal: AbortSignal.any([connection.signal, controller.signal]),
      timings,
      trace,
      headers: exchange,
      onError: (error) => {
        if (failure === undefined) listener.onError(error)
      },
    })
  } catch (error) {
    throw failure ?? (timings.computeStart === 0 ? new Refused(error) : error)
  }
  if (failure !== undefined) throw failure
}

/** What was refused before the model ran is answered as plain JSON by the dispatcher. */
function throwIfRefused(exchange: Exchange, error: unknown): ConchError {
  if (error instanceof Refused) throw error.error
  return toConchError(exchange, error)
}

function unwrap(error: unknown): unknown {
  return error instanceof Refused ? error.error : error
}

function openChunked(exchange: Exchange, status: number, type: string): void {
  const fields = ['Content-Type', type]
  addConnection(exchange, fields)
  exchange.markAnswered()
  exchange.res.writeHead(status, fields)
}
