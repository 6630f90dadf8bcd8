import { BYTE_SIZE, DATATYPES, isDatatype, type Datatype } from '../datatype.ts'
import { ConchError } from '../status.ts'
import { countElements } from '../tensor.ts'
import { explainData } from './explain-data.ts'
import { CLOSE_ARRAY, OPEN_ARRAY } from './json-scan.ts'
import { failMember, readStringMember, readUnsignedMember, requireMember } from './json-members.ts'
import { readData } from './read-data.ts'
import { readShape } from './read-shape.ts'
import type { RegionRange, RequestInput, RequestTarget } from './request.ts'
import type { TensorSpan } from './request-scan.ts'

const EMPTY = new Uint8Array(0)
const MAX_INT64 = 2n ** 63n - 1n

/** Judges the found inputs in order, taking binary ones from behind the JSON part. */
export class InputParser {
  readonly #json: Uint8Array
  readonly #target: RequestTarget
  readonly #body: Uint8Array
  /** The first byte of the body that no input has taken yet. */
  #next: number
  readonly #headerGiven: boolean

  constructor(body: Uint8Array, headerLength: number | undefined, target: RequestTarget) {
    this.#body = body
    this.#next = headerLength ?? body.length
    this.#json = this.#next === body.length ? body : body.subarray(0, this.#next)
    this.#headerGiven = headerLength !== undefined
    this.#target = target
  }

  get json(): Uint8Array {
    return this.#json
  }

  parse(spans: readonly TensorSpan[], id: string): RequestInput[] {
    const inputs: RequestInput[] = []
    const names = new Set<string>()
    for (const span of spans) inputs.push(this.#parseInput(span, names, id))
    if (this.#next !== this.#body.length) {
      throw new ConchError('INVALID_ARG', `unexpected additional input data for model '${this.#target.model}'`)
    }
    return inputs
  }

  #parseInput(span: TensorSpan, names: Set<string>, id: string): RequestInput {
    if (!span.isObject) throw new ConchError('INTERNAL', 'attempt to access JSON non-object as object')
    const s = this.#json
    const name = readStringMember(s, span.name, 'name')
    const datatype = readStringMember(s, span.datatype, 'datatype')
    const shape = span.dims ?? parseShape(s, span.shape)
    if (names.size === names.add(name).size) {
      throw new ConchError(
        'INVALID_ARG',
        `[request id: ${id || '<id_unknown>'}] input '${name}' already exists in request`,
      )
    }
    checkSingleSource(span)
    checkDatatype(name, datatype)
    if (shape.some((dim) => dim > Number.MAX_SAFE_INTEGER)) refuseHugeShape(s, span, { name, datatype })
    const input = { name, datatype, shape }
    if (span.data >= 0) return { ...input, data: span.elements ?? this.#parseData(span, input), region: undefined }
    if (span.region >= 0) return { ...input, data: EMPTY, region: parseRegion(s, span) }
    return { ...input, data: this.#takeBinary(span, name), region: undefined }
  }

  #parseData(span: TensorSpan, input: { name: string; datatype: Datatype; shape: number[] }): Uint8Array {
    const count = countJsonElements(input, this.#target.maxInputSize)
    if (count === 0) return EMPTY
    const s = this.#json
    const read = s[span.data] === OPEN_ARRAY ? readData(s, span.data, { datatype: input.datatype, count }) : undefined
    if (read === undefined) explainData(s, span.data, { ...input, count })
    return read.bytes
  }

  #takeBinary(span: TensorSpan, name: string): Uint8Array {
    const size = readUnsignedMember(this.#json, span.binarySize, 'binary_data_size')
    const from = this.#next
    const missing = from + size - this.#body.length
    if (missing > 0) {
      const hint = this.#headerGiven
        ? ''
        : '; a request with binary data needs the header Inference-Header-Content-Length'
      throw new ConchError(
        'INVALID_ARG',
        `unexpected size for input '${name}', expecting ${missing} additional bytes for model '${this.#target.model}'${hint}`,
      )
    }
    this.#next += size
    return this.#body.subarray(from, from + size)
  }
}

function parseShape(s: Uint8Array, at: number): number[] {
  requireMember(at, 'shape')
  if (s[at] !== OPEN_ARRAY) failMember('shape', 'attempt to access JSON non-array as array')
  const shape = readShape(s, at)
  if (shape === undefined) failMember('shape', 'attempt to access JSON non-unsigned-integer as unsigned-integer')
  return shape
}

/** Exactly one of the three places where elements may come from must be used. */
function checkSingleSource(span: TensorSpan): void {
  const set = [
    ...(span.data >= 0 ? ["'data'"] : []),
    ...(span.binarySize >= 0 ? ["'binary_data_size'"] : []),
    ...(span.region >= 0 ? ["'shared_memory_region'"] : []),
  ]
  if (set.length === 1) return
  throw new ConchError(
    'INVALID_ARG',
    "Input must set only one of the following fields: 'data', 'binary_data_size' in 'parameters', 'shared_memory_region' in 'parameters'. " +
      (set.length === 0 ? 'But no field is set' : `But set ${set.join(' ')}`),
  )
}

function checkDatatype(name: string, datatype: string): asserts datatype is Datatype {
  if (isDatatype(datatype)) return
  const hint = datatype === 'STRING' || datatype === 'TYPE_STRING' ? ', use BYTES' : ''
  throw new ConchError(
    'INVALID_ARG',
    `invalid datatype for input ${name}: '${datatype.slice(0, 40)}' is none of ${DATATYPES.join(', ')}${hint}`,
  )
}

/** The number of elements of a JSON tensor, refusing what cannot be held. A scalar shape `[]` counts as empty there. */
function countJsonElements(input: { name: string; datatype: Datatype; shape: number[] }, limit: number): number {
  const { name, datatype, shape } = input
  const count = shape.length === 0 ? 0 : countElements(shape)
  const size = count * BYTE_SIZE[datatype]
  if (size <= limit) return count
  const bytes = size <= Number.MAX_SAFE_INTEGER ? BigInt(size) : countBytes(shape.map(BigInt), { name, datatype })
  throw new ConchError(
    'INVALID_ARG',
    `JSON input '${name}' has a byte_size (${bytes} bytes) that exceeds the maximum allowed value of ${limit} bytes. Use --http-max-input-size to increase the limit.`,
  )
}

/** Exact, for shapes that doubles cannot count. Refuses what a signed 64-bit integer cannot hold. */
function countBytes(dims: readonly bigint[], { name, datatype }: { name: string; datatype: Datatype }): bigint {
  const text = `invalid shape for input '${name}': shape [${dims.slice(0, 32).join(',')}]`
  if (dims.some((dim) => dim > MAX_INT64)) {
    throw new ConchError('INVALID_ARG', `${text} contains one or more invalid dimensions`)
  }
  const count = multiply(dims)
  if (count > MAX_INT64) {
    throw new ConchError('INVALID_ARG', `${text} causes total element count to exceed maximum size of ${MAX_INT64}`)
  }
  const size = count * BigInt(BYTE_SIZE[datatype])
  if (size <= MAX_INT64) return size
  throw new ConchError(
    'INVALID_ARG',
    `byte size overflow for input '${name}': shape [${dims.join(',')}] of ${datatype}`,
  )
}

/** Stops where the product has left 64 bits: a million dimensions must not become a million-digit number. */
function multiply(dims: readonly bigint[]): bigint {
  let product = dims.includes(0n) ? 0n : 1n
  for (const dim of dims) if (product <= MAX_INT64) product *= dim
  return product
}

/** Dimensions beyond 2^53 are never those of a tensor; they are read again, exactly, to say so. */
function refuseHugeShape(s: Uint8Array, span: TensorSpan, input: { name: string; datatype: Datatype }): never {
  const end = s.indexOf(CLOSE_ARRAY, span.shape)
  const dims = new TextDecoder()
    .decode(s.subarray(span.shape + 1, end))
    .split(',')
    .map((dim) => BigInt(dim.trim()))
  const size = countBytes(dims, input)
  throw new ConchError(
    'INVALID_ARG',
    `invalid shape for input '${input.name}': shape [${dims.join(',')}] takes ${size} bytes, more than a request can bring`,
  )
}

export function parseRegion(s: Uint8Array, span: TensorSpan): RegionRange {
  const name = readStringMember(s, span.region, 'shared_memory_region')
  const offset = span.regionOffset < 0 ? 0 : readUnsignedMember(s, span.regionOffset, 'shared_memory_offset')
  const byteSize = span.regionSize < 0 ? 0 : readUnsignedMember(s, span.regionSize, 'shared_memory_byte_size')
  return { name, offset, byteSize }
}
