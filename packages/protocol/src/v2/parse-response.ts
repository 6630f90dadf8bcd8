import { isDatatype, type Datatype } from '../datatype.ts'
import { expectedByteSize } from '../rows.ts'
import { ConchError } from '../status.ts'
import { countElements, type Tensor } from '../tensor.ts'
import { checkEntries } from './entries.ts'
import { findMembers, readIdMember, readStringMember, readUnsignedMember } from './json-members.ts'
import {
  checkDocumentEnd,
  CLOSE_ARRAY,
  COMMA,
  findDocumentStart,
  OPEN_ARRAY,
  OPEN_OBJECT,
  skipSpace,
  skipValue,
} from './json-scan.ts'
import { NO_PARAMETERS, parseParameter } from './parse-parameters.ts'
import { readData } from './read-data.ts'
import { readShape } from './read-shape.ts'
import type { Parameters, ParameterValue } from './request.ts'
import type { InferResponse } from './response.ts'

const EMPTY = new Uint8Array(0)
/** Longest JSON part that is remembered, in bytes. */
const LONGEST = 4_096

/** An output before its bytes are cut out of the body: `size` of them, 0 = they came as JSON or lie in shared memory. */
interface Output extends Tensor {
  readonly size: number
  readonly binary: boolean
}
type Head = Omit<InferResponse, 'outputs'> & { readonly outputs: readonly Output[] }

/**
 * Reads the bodies of answers to infer requests (reference: front door §6.4). Binary outputs are views on the body; outputs in shared memory have
 * no data. Throws INTERNAL for what is no such answer. Remembers the last JSON part: answers to like requests differ in their elements only.
 */
export class ResponseReader {
  #json: Uint8Array = EMPTY
  #head: Head | undefined = undefined

  /** `headerLength` is the value of Inference-Header-Content-Length, undefined when the header is absent. */
  parse(body: Uint8Array, headerLength: number | undefined): InferResponse {
    const end = headerLength ?? body.length
    if (end > body.length) failAnswer(`its JSON part should have ${end} bytes, the whole has ${body.length}`)
    const json = body.subarray(0, end)
    if (this.#head !== undefined && isEqual(json, this.#json)) return cutOutputs(this.#head, body, end)
    const head = readHead(json)
    if (headerLength !== undefined && json.length <= LONGEST && head.outputs.every((output) => output.binary)) {
      this.#json = new Uint8Array(json)
      this.#head = head
    }
    return cutOutputs(head, body, end)
  }
}

function failAnswer(reason: string, cause?: unknown): never {
  throw new ConchError('INTERNAL', `the server's answer cannot be read: ${reason}`, { cause })
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i += 1) if (a[i] !== b[i]) return false
  return true
}

function cutOutputs(head: Head, body: Uint8Array, from: number): InferResponse {
  let at = from
  const outputs = head.outputs.map(({ name, datatype, shape, data, size }): Tensor => {
    at += size
    return { name, datatype, shape, data: size === 0 ? data : body.subarray(at - size, at) }
  })
  if (at !== body.length) failAnswer(`${body.length - from} bytes follow its JSON part, which announces ${at - from}`)
  return { model: head.model, version: head.version, id: head.id, parameters: head.parameters, outputs }
}

function readHead(json: Uint8Array): Head {
  try {
    return parseHead(json)
  } catch (error) {
    if (!(error instanceof ConchError)) throw error
    return failAnswer(error.message, error)
  }
}

function parseHead(s: Uint8Array): Head {
  const start = findDocumentStart(s)
  checkDocumentEnd(s, skipValue(s, start))
  const members = findMembers(s, start)
  const at = (name: string) => members.get(name) ?? -1
  return {
    model: readStringMember(s, at('model_name'), 'model_name'),
    version: members.has('model_version') ? readStringMember(s, at('model_version'), 'model_version') : '',
    id: members.has('id') ? readIdMember(s, at('id')) : '',
    parameters: members.has('parameters') ? readParameters(s, at('parameters')) : NO_PARAMETERS,
    outputs: findElements(s, at('outputs')).map((position) => readOutput(s, position)),
  }
}

function readParameters(s: Uint8Array, at: number): Parameters {
  const parameters = Object.create(null) as Record<string, ParameterValue>
  for (const [key, value] of findMembers(s, at)) parameters[key] = parseParameter(s, value, key)
  return parameters
}

/** Where the elements of an array begin. The text was checked before. */
function findElements(s: Uint8Array, array: number): number[] {
  const found: number[] = []
  if (array < 0 || s[array] !== OPEN_ARRAY) return failAnswer("it has no 'outputs'")
  let at = skipSpace(s, array + 1)
  if (s[at] === CLOSE_ARRAY) return found
  for (;;) {
    checkEntries(found.length, 'outputs')
    found.push(at)
    at = skipSpace(s, skipValue(s, at))
    if (s[at] !== COMMA) return found
    at = skipSpace(s, at + 1)
  }
}

function readOutput(s: Uint8Array, object: number): Output {
  if (s[object] !== OPEN_OBJECT) failAnswer('one of its outputs is no object')
  const members = findMembers(s, object)
  const at = (name: string) => members.get(name) ?? -1
  const name = readStringMember(s, at('name'), 'name')
  const datatype = readDatatype(readStringMember(s, at('datatype'), 'datatype'))
  const shape = readShape(s, at('shape')) ?? failAnswer(`output '${name}' has no shape`)
  const output = { name, datatype, shape }
  const data = at('data')
  if (data >= 0) return { ...output, data: readElements(s, data, output), size: 0, binary: false }
  const size = at('parameters') < 0 ? undefined : findMembers(s, at('parameters')).get('binary_data_size')
  if (size === undefined) return { ...output, data: EMPTY, size: 0, binary: false }
  return {
    ...output,
    data: EMPTY,
    size: checkSize(readUnsignedMember(s, size, 'binary_data_size'), output),
    binary: true,
  }
}

function readDatatype(text: string): Datatype {
  return isDatatype(text) ? text : failAnswer(`'${text.slice(0, 40)}' is no datatype`)
}

function checkSize(size: number, output: Omit<Tensor, 'data'>): number {
  const expected = expectedByteSize(output) ?? size
  if (size === expected) return size
  return failAnswer(`output '${output.name}' should have ${expected} bytes and has ${size}`)
}

function readElements(s: Uint8Array, at: number, output: Omit<Tensor, 'data'>): Uint8Array {
  const count = countElements(output.shape)
  if (count === 0) return EMPTY
  const read = s[at] === OPEN_ARRAY ? readData(s, at, { datatype: output.datatype, count }) : undefined
  if (read !== undefined) return read.bytes
  return failAnswer(`'data' of output '${output.name}' is not ${count} elements of ${output.datatype}`)
}
