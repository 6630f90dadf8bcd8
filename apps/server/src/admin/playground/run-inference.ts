import { newTimings, type Engine, type InferContext, type Timings } from '@conch/engine'
import { encodeInferResponse, parseInferRequest, type InferRequest, type InferResponse } from '@conch/protocol'
import type { z } from 'zod'
import type { AdminContext } from '../context.ts'
import { rankOutputs } from '../../rank-outputs.ts'
import { explainFailure } from './explain-failure.ts'
import type { inferSchema, InferResult, OutputView, StageTimes } from './playground.schema.ts'
import { viewOutput } from './view-output.ts'

const MAX_REQUEST = 64 * 1_048_576
const MAX_RESPONSE = 16 * 1_048_576
/** Responses of a decoupled model that are kept. */
const MAX_RESPONSES = 200
/** Milliseconds that a request from the playground may take. */
const PATIENCE = 300_000

/** Asks a model through the engine itself, as the HTTP port would; a refusal is an answer here, not an error. */
export async function runInference(
  { services }: AdminContext,
  input: z.infer<typeof inferSchema>,
  gone?: AbortSignal,
): Promise<InferResult> {
  const { engine } = services
  const timings = newTimings()
  const began = performance.now()
  try {
    const request = readRequest(input)
    const responses = await ask(engine, request, { timings, signal: limitPatience(gone) })
    const timing = readTimes(timings, performance.now() - began)
    return { status: 200, timing, ...(await describe(engine, request, responses)) }
  } catch (failure) {
    const error = await explainFailure(services, input, failure)
    const timing = readTimes(timings, performance.now() - began)
    return { status: error.httpStatus, timing, response: null, outputs: [], error }
  }
}

/** Aborts with the caller, and for those who wait forever. */
export function limitPatience(gone: AbortSignal | undefined): AbortSignal {
  const late = AbortSignal.timeout(PATIENCE)
  return gone === undefined ? late : AbortSignal.any([gone, late])
}

/** Every output comes back as text and numbers: there is no binary part in an answer to the playground. */
export function readRequest({ model, version = '', request: text }: z.infer<typeof inferSchema>): InferRequest {
  const request = parseInferRequest(Buffer.from(text), undefined, { model, version, maxInputSize: MAX_REQUEST })
  request.binaryOutputs = false
  request.outputs = request.outputs.map((output) => ({ ...output, binary: false }))
  return request
}

async function ask(engine: Engine, request: InferRequest, context: InferContext): Promise<readonly InferResponse[]> {
  const { model_transaction_policy: policy } = engine.config(request.model, request.version)
  if (policy?.decoupled !== true) return [await engine.infer(request, context)]
  const responses: InferResponse[] = []
  await engine.stream(
    request,
    (response) => void (responses.length < MAX_RESPONSES && responses.push(response)),
    context,
  )
  return responses
}

async function describe(engine: Engine, request: InferRequest, responses: readonly InferResponse[]) {
  const last = responses.at(-1)
  if (last === undefined) return { response: '[]', outputs: [] }
  const outputs = await viewResponse(engine, last)
  const bytes = responses.reduce((sum, response) => sum + countBytes(response), 0)
  if (bytes > MAX_RESPONSE / 2) return { response: null, outputs }
  const texts = responses.map((response) => printResponse(engine, request, response))
  const response = texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(',')}]`
  return { response: response.length > MAX_RESPONSE ? null : response, outputs }
}

export function viewResponse(engine: Engine, { model, version, outputs }: InferResponse): Promise<OutputView[]> {
  return Promise.all(outputs.map((output) => viewOutput(output, engine.labels(model, version, output.name))))
}

export function countBytes({ outputs }: InferResponse): number {
  return outputs.reduce((total, { data }) => total + data.byteLength, 0)
}

/** JSON text of one v2 response. */
export function printResponse(engine: Engine, request: InferRequest, response: InferResponse): string {
  return Buffer.from(encodeInferResponse(rankOutputs(engine, request, response), request).json).toString('utf8')
}

/** Stages that were not reached take no time; the total is always known. */
export function readTimes(timings: Timings, elapsed: number): StageTimes {
  const span = (from: number, to: number) => (from > 0 && to > from ? Math.round((to - from) * 1000) : 0)
  const { start, queued, computeStart, computeInputEnd, computeOutputStart, computeEnd, end } = timings
  return {
    queueUs: span(queued, computeStart),
    inputUs: span(computeStart, computeInputEnd),
    inferUs: span(computeInputEnd, computeOutputStart),
    outputUs: span(computeOutputStart, computeEnd),
    totalUs: span(start, end) || Math.round(elapsed * 1000),
  }
}
