import { BYTE_SIZE, isDatatype } from '../datatype.ts'
import { ConchError } from '../status.ts'
import { countLeaves, explainData } from './explain-data.ts'
import { checkDocumentEnd, findDocumentStart, OPEN_ARRAY, OPEN_OBJECT, skipScalar, skipValue } from './json-scan.ts'
import { findMembers, readIdMember } from './json-members.ts'
import { parseParameter } from './parse-parameters.ts'
import { checkJsonSize, createRequest } from './parse-request.ts'
import { readData } from './read-data.ts'
import type { InferRequest, ParameterValue, RequestInput, RequestTarget } from './request.ts'

/** An input of the model as its metadata tells: batch dimension included, -1 = variable. */
export interface GenerateInput {
  readonly name: string
  readonly datatype: string
  readonly shape: readonly number[]
}

/**
 * Maps the flat object of the generate extension to a request (reference: front door §9.2): members named like an
 * input become tensors, the others parameters, and `parameters` may nest both.
 */
export function parseGenerateRequest(
  body: Uint8Array,
  inputs: readonly GenerateInput[],
  target: RequestTarget,
): InferRequest {
  checkJsonSize(body, target.maxInputSize)
  const start = findDocumentStart(body)
  checkDocumentEnd(body, skipValue(body, start))
  if (body[start] !== OPEN_OBJECT) throw new ConchError('INTERNAL', 'attempt to get members for non-object')
  return new GenerateParser(body, inputs, target).parse(start)
}

class GenerateParser {
  readonly #json: Uint8Array
  readonly #inputs: readonly GenerateInput[]
  readonly #target: RequestTarget
  readonly #tensors: RequestInput[] = []
  readonly #parameters = Object.create(null) as Record<string, ParameterValue>
  #size = 0

  constructor(json: Uint8Array, inputs: readonly GenerateInput[], target: RequestTarget) {
    this.#json = json
    this.#inputs = inputs
    this.#target = target
  }

  parse(start: number): InferRequest {
    const request = createRequest(this.#target)
    const members = findMembers(this.#json, start)
    const id = members.get('id')
    if (id !== undefined) request.id = readIdMember(this.#json, id)
    for (const [key, at] of members) {
      if (key === 'parameters') this.#parseNested(at)
      else this.#parseMember(key, at)
    }
    request.inputs = this.#tensors
    request.parameters = this.#parameters
    return request
  }

  #parseNested(at: number): void {
    if (this.#inputs.some((input) => input.name === 'parameters')) {
      throw new ConchError('INVALID_ARG', "Keyword 'parameters' for nested schema also given as input tensor name")
    }
    if (this.#json[at] !== OPEN_OBJECT) {
      throw new ConchError(
        'INTERNAL',
        "Expected JSON object for keyword: 'parameters': attempt to get members for non-object",
      )
    }
    try {
      for (const [key, value] of findMembers(this.#json, at)) this.#parseMember(key, value)
    } catch (error) {
      if (!(error instanceof ConchError)) throw error
      throw new ConchError(error.code, `Converting keyword: 'parameters': ${error.message}`, { cause: error })
    }
  }

  #parseMember(key: string, at: number): void {
    const input = this.#inputs.find((candidate) => candidate.name === key)
    if (input === undefined) {
      this.#parameters[key] ??= parseParameter(this.#json, at, key)
      return
    }
    if (this.#tensors.some((tensor) => tensor.name === key)) {
      throw new ConchError('INVALID_ARG', `input '${key}' already exists in request`)
    }
    this.#tensors.push(this.#parseTensor(input, at))
  }

  #parseTensor(input: GenerateInput, at: number): RequestInput {
    const { name, datatype } = input
    if (!isDatatype(datatype)) {
      throw new ConchError('INVALID_ARG', `input '${name}' has unsupported datatype ${datatype}`)
    }
    const text = this.#wrapScalar(at)
    const count = text[0] === OPEN_ARRAY ? countLeaves(text, 0) : 1
    if (count === 0) return { name, datatype, shape: [0], data: new Uint8Array(0), region: undefined }
    this.#checkSize(name, count * BYTE_SIZE[datatype])
    const read = readData(text, 0, { datatype, count })
    if (read === undefined) explainData(text, 0, { name, datatype, shape: [count], count })
    if (datatype === 'BYTES') this.#checkSize(name, read.bytes.length)
    return { name, datatype, shape: deduceShape(input, count), data: read.bytes, region: undefined }
  }

  /** The value's text; a lone scalar becomes an array of one. */
  #wrapScalar(at: number): Uint8Array {
    const s = this.#json
    const c = s[at] ?? 0
    if (c === OPEN_ARRAY) return s.subarray(at)
    const end = c === OPEN_OBJECT ? skipValue(s, at) : skipScalar(s, at)
    const text = new Uint8Array(end - at + 2)
    text[0] = OPEN_ARRAY
    text.set(s.subarray(at, end), 1)
    text[text.length - 1] = OPEN_ARRAY + 2
    return text
  }

  #checkSize(name: string, size: number): void {
    const limit = this.#target.maxInputSize
    this.#size += size
    if (this.#size <= limit) return
    throw new ConchError(
      'INVALID_ARG',
      `request size of ${this.#size} bytes with input '${name}' of size ${size} bytes exceeds the maximum allowed input size of ${limit}. Use --http-max-input-size to increase the limit.`,
    )
  }
}

/** Fits `count` elements into the metadata's shape: the innermost variable dimension takes what the fixed ones leave. */
function deduceShape(input: GenerateInput, count: number): number[] {
  let left = count
  for (const dim of input.shape) {
    if (dim >= 0) left /= dim
  }
  const variable = input.shape.lastIndexOf(-1)
  if (!Number.isInteger(left) || (variable < 0 && left !== 1)) {
    throw new ConchError(
      'INVALID_ARG',
      `The schema can not convert input '${input.name}' to tensor with proper shape: ${count} elements do not fit [${input.shape.join(',')}]`,
    )
  }
  return input.shape.map((dim, i) => (dim >= 0 ? dim : i === variable ? left : 1))
}
