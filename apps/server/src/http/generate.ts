import { ConchError, HTTP_STATUS } from '@conch/protocol'
import type { InferRequest, InferResponse } from '@conch/protocol'
import type { Exchange } from './exchange.ts'
import { mapGenerateRequest } from './generate-request.ts'
import { formatGenerated } from './generate-response.ts'
import { checkVersion } from './infer.ts'
import { requireJsonObject } from './read-json.ts'
import { addConnection, errorBody, toConchError } from './reply.ts'
import { newTimings } from './timings.ts'

const ONE_ONLY =
  'generate expects model to produce exactly 1 response, use generate stream for model that generates various number of responses'

/** `POST …/generate`: one JSON object, sent as one chunk (reference: http §9.4). */
export async function answerGenerate(exchange: Exchange): Promise<void> {
  const request = await readGenerate(exchange)
  const texts: string[] = []
  let status = 200
  try {
    await run(exchange, request, (response) => {
      if (texts.length < 2) texts.push(formatGenerated(response, request))
    })
  } catch (error) {
    const known = throwIfRefused(exchange, error)
    if (texts.length === 0) status = HTTP_STATUS[known.code]
    texts.length = 0
    texts.push(errorBody(known.message).toString())
  }
  openChunked(exchange, status, 'application/json')
  const [text] = texts
  exchange.res.end(texts.length === 1 ? text : errorBody(ONE_ONLY))
}

/** `POST …/generate_stream`: one event per response; the first one chooses the status (reference: http §9.5). */
export async function answerGenerateStream(exchange: Exchange): Promise<void> {
  const request = await readGenerate(exchange)
  const { res } = exchange
  const emit = (status: number, text: string) => {
    if (!res.headersSent) openChunked(exchange, status, 'text/event-stream; charset=utf-8')
    res.write(`data: ${text}\n\n`)
    // A reader that stands still while the model goes on: its connection ends instead of our memory.
    if (res.writableLength > MAX_UNREAD) res.destroy()
  }
  try {
    await run(exchange, request, (response) => emit(200, formatGenerated(response, request)))
  } catch (error) {
    const known = res.headersSent ? toConchError(exchange, unwrap(error)) : throwIfRefused(exchange, error)
    emit(HTTP_STATUS[known.code], errorBody(known.message).toString())
  }
  if (!res.headersSent) openChunked(exchange, 200, 'text/event-stream; charset=utf-8')
  res.end()
}

const MAX_UNREAD = 64 * 1024 * 1024

async function readGenerate(exchange: Exchange): Promise<InferRequest> {
  const { face, model, version, headers } = exchange
  checkVersion(version)
  const metadata = face.engine.metadata(model, version)
  const encoding = headers.contentEncoding
  if (encoding !== undefined && encoding !== '' && encoding !== 'identity') {
    throw new ConchError('INVALID_ARG', "Unsupported content-encoding, only 'identity' is supported.")
  }
  const target = { model, version, maxInputSize: face.options.maxInputSize }
  return mapGenerateRequest(await requireJsonObject(exchange), metadata, target)
}

/** An error that is thrown out of here before the request ran carries this mark. */
class Refused {
  readonly error: unknown
  constructor(error: unknown) {
    this.error = error
  }
}

async function run(
  exchange: Exchange,
  request: InferRequest,
  onResponse: (response: InferResponse) => void,
): Promise<void> {
  const { face, connection } = exchange
  const timings = newTimings()
  const controller = connection.open()
  try {
    await face.engine.stream(request, onResponse, { signal: controller.signal, timings })
  } catch (error) {
    throw timings.computeStart === 0 ? new Refused(error) : error
  } finally {
    connection.release(controller)
  }
}

function unwrap(error: unknown): unknown {
  return error instanceof Refused ? error.error : error
}

/** What was refused before the model ran is answered as plain JSON by the dispatcher. */
function throwIfRefused(exchange: Exchange, error: unknown): ConchError {
  if (error instanceof Refused) throw error.error
  return toConchError(exchange, error)
}

function openChunked(exchange: Exchange, status: number, type: string): void {
  const fields = ['Content-Type', type]
  addConnection(exchange, fields)
  exchange.answered = true
  exchange.res.writeHead(status, fields)
}
