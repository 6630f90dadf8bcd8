import { ConchError } from '../status.ts'
import { failMember, readIdMember } from './json-members.ts'
import { InputParser } from './parse-inputs.ts'
import { parseOutputs } from './parse-outputs.ts'
import { NO_PARAMETERS, parseParameters } from './parse-parameters.ts'
import type { InferRequest, RequestTarget } from './request.ts'
import { RequestScan, type RequestSpans } from './request-scan.ts'

/**
 * Parses the body of an infer request (reference: front door §6.2). Binary tensors are views on `body`.
 *
 * `headerLength` is the value of Inference-Header-Content-Length, undefined when the header is absent. A header of 0,
 * or an empty body, is a raw request: `parseRawRequest`.
 */
export function parseInferRequest(
  body: Uint8Array,
  headerLength: number | undefined,
  target: RequestTarget,
): InferRequest {
  if (headerLength !== undefined && (headerLength <= 0 || headerLength > body.length)) {
    throw new ConchError(
      'INVALID_ARG',
      `inference header size should be in range (0, ${body.length}), got: ${headerLength}`,
    )
  }
  const inputs = new InputParser(body, headerLength, target)
  const json = inputs.json
  checkJsonSize(json, target.maxInputSize)
  const spans = new RequestScan(json, target.maxInputSize).scan()

  const request = createRequest(target)
  if (spans.id >= 0) request.id = readIdMember(json, spans.id)
  if (spans.parameters >= 0) parseParameters(json, spans.parameters, request)
  request.inputs = inputs.parse(requireInputs(spans), request.id)
  if (spans.outputSpans !== undefined) request.outputs = parseOutputs(json, spans.outputSpans)
  else if (spans.outputs >= 0) failMember('outputs', 'attempt to access JSON non-array as array')
  return request
}

/** A request with nothing in it yet. */
export function createRequest(target: { readonly model: string; readonly version: string }): InferRequest {
  return {
    model: target.model,
    version: target.version,
    id: '',
    sequenceId: 0n,
    sequenceStart: false,
    sequenceEnd: false,
    priority: 0,
    timeout: 0,
    parameters: NO_PARAMETERS,
    inputs: [],
    outputs: [],
    binaryOutputs: false,
  }
}

/** The limit on every JSON body (reference: front door §9.1). */
export function checkJsonSize(json: Uint8Array, maxInputSize: number): void {
  if (json.length <= maxInputSize) return
  throw new ConchError(
    'INVALID_ARG',
    `request JSON size of ${json.length} bytes exceeds the maximum allowed input size of ${maxInputSize} bytes. Use --http-max-input-size to increase the limit.`,
  )
}

function requireInputs(spans: RequestSpans) {
  if (spans.inputs < 0) failMember('inputs', "attempt to access non-existing object member 'inputs'")
  if (spans.inputSpans === undefined) failMember('inputs', 'attempt to access JSON non-array as array')
  return spans.inputSpans
}
