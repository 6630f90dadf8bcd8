import { encodeInferResponse, parseGenerateRequest, parseInferRequest, parseJson } from '@conch/protocol'
import type {
  EncodedResponse,
  GenerateInput,
  InferRequest,
  InferResponse,
  JsonValue,
  RequestTarget,
} from '@conch/protocol'

/** Work on large JSON that may run on another thread: plain data in, plain data out. */
export type JsonJob =
  | {
      readonly kind: 'request'
      readonly body: Uint8Array
      readonly headerLength: number | undefined
      readonly target: RequestTarget
    }
  | {
      readonly kind: 'generate'
      readonly body: Uint8Array
      readonly inputs: readonly GenerateInput[]
      readonly target: RequestTarget
    }
  | { readonly kind: 'response'; readonly response: InferResponse; readonly request: InferRequest }
  | { readonly kind: 'json'; readonly body: Uint8Array }

export type JsonResult = InferRequest | EncodedResponse | JsonValue

export function runJsonJob(job: JsonJob): JsonResult {
  switch (job.kind) {
    case 'request':
      return parseInferRequest(job.body, job.headerLength, job.target)
    case 'generate':
      return parseGenerateRequest(job.body, job.inputs, job.target)
    case 'response':
      return encodeInferResponse(job.response, job.request)
    case 'json':
      return parseJson(job.body)
  }
}

/** The memory behind a job or a result, each buffer once: it is handed over, not copied. What is small may share its
 * memory with others and is copied. */
export function findBuffers(value: JsonJob | JsonResult): ArrayBuffer[] {
  const buffers = new Set<ArrayBuffer>()
  for (const { buffer, length } of findViews(value)) {
    if (buffer instanceof ArrayBuffer && length > SMALL) buffers.add(buffer)
  }
  return [...buffers]
}

const SMALL = 64 * 1024

function findViews(value: JsonJob | JsonResult): readonly Uint8Array[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return []
  if ('kind' in value && 'response' in value)
    return (value as { response: InferResponse }).response.outputs.map((tensor) => tensor.data)
  if ('body' in value && value.body instanceof Uint8Array) return [value.body]
  if ('inputs' in value && 'model' in value) return (value as InferRequest).inputs.map((tensor) => tensor.data)
  if ('json' in value && value.json instanceof Uint8Array) return [value.json, ...(value as EncodedResponse).parts]
  return []
}
