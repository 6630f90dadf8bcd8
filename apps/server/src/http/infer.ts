import { ConchError, parseRawRequest } from '@conch/protocol'
import type { EncodedResponse, InferRequest, InferResponse } from '@conch/protocol'
import { newTimings } from '@conch/engine'
import { release } from './body.ts'
import type { Exchange } from './exchange.ts'
import { forwardHeaders } from '../header-forwarding.ts'
import { rankOutputs } from '../rank-outputs.ts'
import { refuseVersion } from '../version-text.ts'
import { chooseEncoding, readDigits } from './headers.ts'
import type { ResponseEncoding } from './headers.ts'
import { LIMITS } from './limits.ts'
import { decodeBody, encodeBody, isSupported, readBody } from './read-body.ts'
import { checkJsonSize } from './read-json.ts'
import type { ContentType } from './content-type.ts'
import { refuseCompression, send, sendError, sendModelError } from './reply.ts'
import { watchExchange } from './watch.ts'

/**
 * `POST …/infer` (reference: http §6). Everything that is thrown is answered here or by the dispatcher. Nothing is awaited
 * that is there already: a small request waits for its body and for its answer.
 */
export async function answerInfer(exchange: Exchange): Promise<void> {
  const { face, connection } = exchange
  const timings = newTimings()
  const watch = watchExchange(exchange)
  let errors: ContentType = 'text/plain'
  try {
    checkVersion(exchange.version)
    const received = await readBody(exchange, announcedLimit(exchange))
    watch.received(received.length)
    checkTarget(exchange)
    if (!isSupported(exchange.headers.contentEncoding)) return refuseCompression(exchange)
    const decoded = decodeBody(exchange, received)
    const body = decoded instanceof Promise ? await decoded : decoded
    const size = body.length
    const headerLength = parseHeaderLength(exchange.headers.inferenceLength, size)
    errors = 'application/json'
    const parsed = parse(exchange, body, headerLength)
    const request = parsed instanceof Promise ? await parsed : parsed
    addForwarded(exchange, request)
    const trace = watch.begin(request, timings)
    const response = await face.engine.infer(request, { signal: connection.signal, timings, trace, headers: exchange })
    errors = 'text/plain'
    if (size >= LIMITS.releasedBytes) releaseOnceSent(exchange, ownBytes(body, request))
    watch.sending()
    const sending = sendResponse(exchange, request, rankOutputs(face.engine, request, response))
    if (sending !== undefined) await sending
  } catch (error) {
    watch.sending()
    // What fails once it was taken is told as plain text, what was refused before as JSON: the original's habit.
    if (timings.queued > 0) sendModelError(exchange, error)
    else sendError(exchange, error, errors)
  }
}

function parse(
  exchange: Exchange,
  body: Buffer,
  headerLength: number | undefined,
): InferRequest | Promise<InferRequest> {
  const { face, model, version } = exchange
  const target = { model, version, maxInputSize: face.options.maxInputSize }
  if (headerLength === 0 || body.length === 0) return parseRawRequest(body, target, face.engine.config(model, version))
  return face.workers.parseRequest(body, headerLength, target)
}

/** In the original the model is looked up before the body is judged, so its error comes first. */
function checkTarget({ face, model, version }: Exchange): void {
  if (face.engine.config(model, version).model_transaction_policy?.decoupled !== true) return
  throw new ConchError('UNSUPPORTED', "HTTP end point doesn't support models with decoupled transaction policy")
}

/** A body that is all JSON and announced to be too large is not read at all. */
function announcedLimit({ headers, face }: Exchange): number {
  const { maxInputSize } = face.options
  if (headers.inferenceLength !== undefined || headers.contentEncoding !== undefined) return LIMITS.bodyBytes
  const announced = Number(headers.contentLength ?? 0)
  if (announced > maxInputSize) checkJsonSize(announced, maxInputSize)
  return LIMITS.bodyBytes
}

/** Version numbers are 64-bit integers there; the path has digits only. */
export function checkVersion(version: string): void {
  if (version.length >= 19 && BigInt(version) >= 2n ** 63n) refuseVersion(version)
}

/** The original reads a non-number as 0 and takes the body as a raw tensor; here it is refused (docs/compat.md). */
function parseHeaderLength(text: string | undefined, size: number): number | undefined {
  if (text === undefined) return undefined
  const digits = readDigits(text)
  if (digits < 0 && !/^\s*[+-]?\d+\s*$/.test(text))
    throw new ConchError('INVALID_ARG', `Unable to parse Inference-Header-Content-Length, got: ${text}`)
  const length = digits < 0 ? Number(text) : digits
  if (length < -(2 ** 31) || length >= 2 ** 31) {
    throw new ConchError(
      'INVALID_ARG',
      `Unable to parse Inference-Header-Content-Length, value is out of range [ -2147483648, 2147483647 ], got: ${text}`,
    )
  }
  if (length < 0 || length > size) {
    throw new ConchError('INVALID_ARG', `inference header size should be in range (0, ${size}), got: ${text}`)
  }
  return length
}

function addForwarded(exchange: Exchange, request: InferRequest): void {
  const { forward } = exchange.face
  const forwarded = forward && forwardHeaders(exchange.req.rawHeaders, forward)
  if (forwarded) request.parameters = { ...request.parameters, ...forwarded }
}

/** What came with the request: the memory of regions is the client's. */
function ownBytes(body: Uint8Array, { inputs }: InferRequest): readonly Uint8Array[] {
  return [body, ...inputs.flatMap(({ data, region }) => (region === undefined ? [data] : []))]
}

/** Whoever needs a tensor longer than its request has copied it. */
function releaseOnceSent({ res }: Exchange, pieces: readonly Uint8Array[]): void {
  res.once('finish', () => pieces.forEach(release))
}

function sendResponse(exchange: Exchange, request: InferRequest, response: InferResponse): void | Promise<void> {
  const encoded = exchange.face.workers.encodeResponse(response, request, countJsonBytes(request, response))
  if (encoded instanceof Promise) {
    return encoded.then((ready) => {
      releaseOnceSent(exchange, [ready.json])
      return sendEncoded(exchange, ready)
    })
  }
  return sendEncoded(exchange, encoded)
}

function sendEncoded(exchange: Exchange, encoded: EncodedResponse): void | Promise<void> {
  const coding = chooseEncoding(exchange.headers.acceptEncoding)
  if (coding !== 'identity') return sendCompressed(exchange, encoded, coding)
  const { json, parts, binary } = encoded
  const { binaryType } = exchange.face.door
  if (binary && binaryType !== undefined) {
    const type = `${binaryType}${json.length}` as ContentType
    return send(exchange, 200, { type, parts: [json, ...parts] })
  }
  if (!binary) return send(exchange, 200, { type: 'application/json', parts: [json] })
  const more = ['Inference-Header-Content-Length', String(json.length)]
  send(exchange, 200, { type: 'application/octet-stream', parts: [json, ...parts], more })
}

async function sendCompressed(
  exchange: Exchange,
  encoded: EncodedResponse,
  coding: Exclude<ResponseEncoding, 'identity'>,
): Promise<void> {
  const type = encoded.binary ? 'application/octet-stream' : 'application/json'
  const more = encoded.binary ? ['Inference-Header-Content-Length', String(encoded.json.length)] : []
  const compressed = await encodeBody(joinParts(encoded), coding)
  send(exchange, 200, { type, parts: [compressed], more: [...more, 'Content-Encoding', coding] })
}

/** Bytes of the tensors that travel as JSON. */
function countJsonBytes(request: InferRequest, response: InferResponse): number {
  let bytes = 0
  if (request.binaryOutputs && request.outputs.length === 0) return 0
  for (const { name, data } of response.outputs) {
    const asked = request.outputs.find((output) => output.name === name)
    if (!(asked?.binary ?? request.binaryOutputs)) bytes += data.length
  }
  return bytes
}

function joinParts({ json, parts }: EncodedResponse): Uint8Array {
  return parts.length === 0 ? json : Buffer.concat([json, ...parts])
}
