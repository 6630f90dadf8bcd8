import { BYTE_SIZE, isDatatype } from '../datatype.ts'
import { countElements } from '../tensor.ts'
import { checkEntries } from './entries.ts'
import {
  checkDocumentEnd,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COMMA,
  failJson,
  findDocumentStart,
  MISS_ELEMENT_END,
  MISS_MEMBER_END,
  MISS_NAME,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
  skipColon,
  skipSpace,
  skipString,
  skipValue,
} from './json-scan.ts'
import { readString, readText } from './json-text.ts'
import { readData } from './read-data.ts'
import { readShape } from './read-shape.ts'

/** Where the members of one entry of `inputs` or `outputs` begin; -1 = absent. Of equal keys the first counts. */
export class TensorSpan {
  isObject = false
  name = -1
  shape = -1
  datatype = -1
  data = -1
  binarySize = -1
  binaryData = -1
  classification = -1
  region = -1
  regionOffset = -1
  regionSize = -1
  /** The shape, once it was read. */
  dims: number[] | undefined = undefined
  /** The elements of `data`, when they could be read on the way. */
  elements: Uint8Array | undefined = undefined
}

/** The members of an infer request, found but not yet judged. */
export class RequestSpans {
  id = -1
  parameters = -1
  inputs = -1
  outputs = -1
  /** Undefined where the member is no array. */
  inputSpans: TensorSpan[] | undefined = undefined
  outputSpans: TensorSpan[] | undefined = undefined
}

type ParameterField = 'binarySize' | 'binaryData' | 'classification' | 'region' | 'regionOffset' | 'regionSize'
const PARAMETER_FIELDS: ReadonlyMap<string, ParameterField> = new Map([
  ['binary_data_size', 'binarySize'],
  ['binary_data', 'binaryData'],
  ['classification', 'classification'],
  ['shared_memory_region', 'region'],
  ['shared_memory_offset', 'regionOffset'],
  ['shared_memory_byte_size', 'regionSize'],
])

type Place = 'request' | 'input' | 'output' | 'parameters'

/**
 * One pass over the text of an infer request: checks its syntax, notes where members begin, and reads `data` into
 * tensor memory while passing, when shape and datatype came first. Judging is left to `parseInferRequest`, because in
 * the original a syntax error anywhere comes before any other complaint.
 */
export class RequestScan {
  readonly #bytes: Uint8Array
  readonly #maxInputSize: number
  readonly #spans = new RequestSpans()
  #tensor = new TensorSpan()

  constructor(bytes: Uint8Array, maxInputSize: number) {
    this.#bytes = bytes
    this.#maxInputSize = maxInputSize
  }

  scan(): RequestSpans {
    const s = this.#bytes
    const start = findDocumentStart(s)
    const end = s[start] === OPEN_OBJECT ? this.#members(start, 'request') : skipValue(s, start)
    checkDocumentEnd(s, end)
    return this.#spans
  }

  #members(at: number, place: Place): number {
    const s = this.#bytes
    at = skipSpace(s, at + 1)
    if (s[at] === CLOSE_OBJECT) return at + 1
    for (;;) {
      if (s[at] !== QUOTE) failJson(MISS_NAME, at)
      const end = skipString(s, at)
      const key = readText(s, at + 1, end - 1)
      at = skipSpace(s, this.#member(place, key, skipColon(s, end)))
      const c = s[at]
      if (c === CLOSE_OBJECT) return at + 1
      if (c !== COMMA) failJson(MISS_MEMBER_END, at)
      at = skipSpace(s, at + 1)
    }
  }

  /** Returns the position behind the member's value. */
  #member(place: Place, key: string, at: number): number {
    switch (place) {
      case 'request':
        return this.#requestMember(key, at)
      case 'parameters':
        return this.#parameter(key, at)
      case 'input':
        return this.#tensorMember(key, at)
      case 'output':
        return this.#tensorMember(key, at)
    }
  }

  #requestMember(key: string, at: number): number {
    const spans = this.#spans
    if (key === 'inputs' && spans.inputs < 0) {
      spans.inputs = at
      if (this.#bytes[at] !== OPEN_ARRAY) return skipValue(this.#bytes, at)
      return this.#elements(at, 'input', (spans.inputSpans = []))
    }
    if (key === 'outputs' && spans.outputs < 0) {
      spans.outputs = at
      if (this.#bytes[at] !== OPEN_ARRAY) return skipValue(this.#bytes, at)
      return this.#elements(at, 'output', (spans.outputSpans = []))
    }
    if (key === 'id' && spans.id < 0) spans.id = at
    if (key === 'parameters' && spans.parameters < 0) spans.parameters = at
    return skipValue(this.#bytes, at)
  }

  #elements(at: number, place: Place, list: TensorSpan[]): number {
    const s = this.#bytes
    at = skipSpace(s, at + 1)
    if (s[at] === CLOSE_ARRAY) return at + 1
    for (;;) {
      checkEntries(list.length, place === 'input' ? 'inputs' : 'outputs')
      const tensor = new TensorSpan()
      this.#tensor = tensor
      list.push(tensor)
      tensor.isObject = s[at] === OPEN_OBJECT
      at = skipSpace(s, tensor.isObject ? this.#members(at, place) : skipValue(s, at))
      const c = s[at]
      if (c === CLOSE_ARRAY) return at + 1
      if (c !== COMMA) failJson(MISS_ELEMENT_END, at)
      at = skipSpace(s, at + 1)
    }
  }

  #tensorMember(key: string, at: number): number {
    const tensor = this.#tensor
    if (key === 'data') return this.#data(at)
    if (key === 'parameters' && this.#bytes[at] === OPEN_OBJECT) return this.#members(at, 'parameters')
    if (key === 'name' && tensor.name < 0) tensor.name = at
    if (key === 'shape' && tensor.shape < 0) tensor.shape = at
    if (key === 'datatype' && tensor.datatype < 0) tensor.datatype = at
    return skipValue(this.#bytes, at)
  }

  #parameter(key: string, at: number): number {
    const field = PARAMETER_FIELDS.get(key)
    if (field !== undefined && this.#tensor[field] < 0) this.#tensor[field] = at
    return skipValue(this.#bytes, at)
  }

  #data(at: number): number {
    const tensor = this.#tensor
    if (tensor.data >= 0) return skipValue(this.#bytes, at)
    tensor.data = at
    return this.#readData(tensor, at) ?? skipValue(this.#bytes, at)
  }

  /** Returns the position behind `data` if it could be read at once. */
  #readData(tensor: TensorSpan, at: number): number | undefined {
    const s = this.#bytes
    if (tensor.shape < 0 || tensor.datatype < 0 || s[tensor.datatype] !== QUOTE || s[at] !== OPEN_ARRAY)
      return undefined
    const datatype = readString(s, tensor.datatype)
    tensor.dims = readShape(s, tensor.shape)
    if (tensor.dims === undefined || !isDatatype(datatype)) return undefined
    const count = countElements(tensor.dims)
    if (count === 0 || tensor.dims.length === 0 || count * BYTE_SIZE[datatype] > this.#maxInputSize) return undefined
    const read = readData(s, at, { datatype, count })
    tensor.elements = read?.bytes
    return read?.end
  }
}
