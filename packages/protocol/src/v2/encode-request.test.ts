import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { encodeBytes } from '../bytes.ts'
import { BYTE_SIZE, DATATYPES, type Datatype } from '../datatype.ts'
import type { Tensor } from '../tensor.ts'
import { encodeInferResponse } from './encode-response.ts'
import { encodeRequestBody, type EncodedRequest } from './encode-request.ts'
import { createRequest, parseInferRequest } from './parse-request.ts'
import { ResponseReader } from './parse-response.ts'
import type { InferRequest } from './request.ts'

const TARGET = { model: 'm', version: '1', maxInputSize: 1e9 }
/** What JSON text can carry. */
const IN_JSON = DATATYPES.filter((datatype) => datatype !== 'FP16' && datatype !== 'BF16')

const encode = (text: string) => new TextEncoder().encode(text)

function join({ json, parts }: Pick<EncodedRequest, 'json' | 'parts'>): Uint8Array {
  const pieces = [json, ...parts]
  const whole = new Uint8Array(pieces.reduce((size, piece) => size + piece.length, 0))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}

/** Any bits of any datatype, BYTES with anything in them. In JSON a NaN has no bits and strings are UTF-8. */
function tensors(json: boolean): fc.Arbitrary<Tensor> {
  const datatypes = json ? IN_JSON : DATATYPES
  return fc
    .record({ name: fc.string({ minLength: 1 }), datatype: fc.constantFrom(...datatypes), count: fc.nat(6) })
    .filter(({ name }) => !name.includes('\0'))
    .chain(({ name, datatype, count }) =>
      elements(datatype, count, json).map((data) => ({ name, datatype, shape: [count], data })),
    )
}

function elements(datatype: Datatype, count: number, json: boolean): fc.Arbitrary<Uint8Array> {
  const length = { minLength: count, maxLength: count }
  if (datatype === 'BYTES') {
    const item = json ? fc.string({ unit: 'grapheme' }) : fc.uint8Array({ maxLength: 40 })
    return fc.array<string | Uint8Array>(item, length).map(encodeBytes)
  }
  if (datatype === 'BOOL') return fc.uint8Array({ ...length, max: 1 })
  if (json && datatype === 'FP32')
    return fc.array(fc.float({ noNaN: true }), length).map((list) => new Uint8Array(Float32Array.from(list).buffer))
  if (json && datatype === 'FP64')
    return fc.array(fc.double({ noNaN: true }), length).map((list) => new Uint8Array(Float64Array.from(list).buffer))
  const size = count * BYTE_SIZE[datatype]
  return fc.uint8Array({ minLength: size, maxLength: size })
}

const settings = fc.record({
  id: fc.string({ unit: 'grapheme' }).filter((id) => !id.includes('\0')),
  sequenceId: fc.oneof(
    fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }),
    fc.string({ minLength: 1, maxLength: 30, unit: 'grapheme-ascii' }),
  ),
  sequenceStart: fc.boolean(),
  sequenceEnd: fc.boolean(),
  priority: fc.nat(),
  timeout: fc.nat(),
  binaryOutputs: fc.boolean(),
  parameters: fc.dictionary(
    fc.stringMatching(/^p[a-z_]{1,8}$/),
    fc.oneof(
      fc.boolean(),
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      fc.constantFrom(0.5, -1e300, 'text', 'ä"\n'),
    ),
  ),
  outputs: fc.uniqueArray(
    fc.record({
      name: fc.string({ minLength: 1, unit: 'grapheme-ascii' }),
      binary: fc.boolean(),
      classification: fc.nat(5),
      region: fc.constant(undefined),
    }),
    { selector: ({ name }) => name, maxLength: 3 },
  ),
})

it.each([true, false])('the server reads a request as the client meant it, binary: %s', (binary) => {
  const inputs = fc.uniqueArray(tensors(!binary), { selector: ({ name }) => name, maxLength: 4 })
  fc.assert(
    fc.property(settings, inputs, (set, list) => {
      const request: InferRequest = {
        ...createRequest(TARGET),
        ...set,
        inputs: list.map((input) => ({ ...input, region: undefined })),
      }
      const encoded = encodeRequestBody(request, binary)
      const back = parseInferRequest(join(encoded), encoded.headerLength, TARGET)
      expect({ ...back, parameters: { ...back.parameters }, inputs: back.inputs.map(plain) }).toEqual({
        ...request,
        parameters: { ...set.parameters },
        inputs: request.inputs.map(plain),
      })
    }),
  )
})

it.each([true, false])('the client reads an answer as the server meant it, binary: %s', (binary) => {
  const reader = new ResponseReader()
  const outputs = fc.array(tensors(!binary), { maxLength: 4 })
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), outputs, (text, list) => {
      const id = text.replaceAll('\0', '')
      const response = { model: 'm', version: '3', id, parameters: { k: 1n, x: 0.5, b: true, t: 'ä' }, outputs: list }
      const encoded = encodeInferResponse(response, { ...createRequest(TARGET), binaryOutputs: binary })
      const body = join(encoded)
      // The second time it is remembered.
      for (let round = 0; round < 2; round += 1) {
        const back = reader.parse(body, encoded.binary ? encoded.json.length : undefined)
        expect({ ...back, parameters: { ...back.parameters }, outputs: back.outputs.map(plain) }).toEqual({
          ...response,
          outputs: list.map(plain),
        })
      }
    }),
  )
})

function plain(tensor: Tensor) {
  return { ...tensor, data: [...tensor.data] }
}

it('puts regions where the protocol has them', () => {
  const region = { name: 'r', offset: 64, byteSize: 128 }
  const request: InferRequest = {
    ...createRequest(TARGET),
    inputs: [{ name: 'I', datatype: 'FP32', shape: [32], data: new Uint8Array(0), region }],
    outputs: [{ name: 'O', binary: false, classification: 0, region: { ...region, offset: 0 } }],
  }
  const { json, parts, headerLength } = encodeRequestBody(request)
  expect([parts.length, headerLength]).toEqual([0, undefined])
  expect(JSON.parse(new TextDecoder().decode(json))).toEqual({
    inputs: [
      {
        name: 'I',
        shape: [32],
        datatype: 'FP32',
        parameters: { shared_memory_region: 'r', shared_memory_byte_size: 128, shared_memory_offset: 64 },
      },
    ],
    outputs: [{ name: 'O', parameters: { shared_memory_region: 'r', shared_memory_byte_size: 128 } }],
  })
  expect(parseInferRequest(json, undefined, TARGET)).toEqual(request)
})

const HEAD =
  '{"model_name":"m","model_version":"1","outputs":[{"name":"O","datatype":"INT32","shape":[2],"parameters":{"binary_data_size":8}}]}'

it.each([
  ['no JSON', 'hello', undefined, /cannot be read: /],
  ['no object', '[]', undefined, /'model_name'/],
  ['no outputs', '{"model_name":"m"}', undefined, /no 'outputs'/],
  ['a datatype that is none', HEAD.replace('INT32', 'INT33'), undefined, /'INT33' is no datatype/],
  ['a size that its shape does not have', HEAD.replace('[2]', '[3]'), undefined, /should have 12 bytes and has 8/],
  ['bytes that are missing', `${HEAD}1234`, HEAD.length, /4 bytes follow its JSON part, which announces 8/],
  ['bytes that are too many', `${HEAD}123456789`, HEAD.length, /9 bytes follow/],
  ['a header longer than the body', HEAD, HEAD.length + 1, /the whole has/],
  [
    'elements that are too few',
    '{"model_name":"m","outputs":[{"name":"O","datatype":"INT32","shape":[2],"data":[1]}]}',
    undefined,
    /'data' of output 'O'/,
  ],
  ['a shape with a hole', HEAD.replace('[2]', '[-1]'), undefined, /output 'O' has no shape/],
])('refuses an answer with %s', (_, text, headerLength, message) => {
  expect(() => new ResponseReader().parse(encode(text), headerLength)).toThrow(message)
})

it('whatever the bytes, an answer is read or refused', () => {
  const whole = encode(`${HEAD}12345678`)
  fc.assert(
    fc.property(fc.nat(whole.length - 1), fc.nat(255), fc.nat(whole.length), (at, byte, cut) => {
      const broken = Uint8Array.from(whole.subarray(0, cut))
      if (at < cut) broken[at] = byte
      try {
        new ResponseReader().parse(broken, Math.min(cut, HEAD.length))
      } catch (error) {
        return error instanceof Error && error.name === 'ConchError'
      }
      return true
    }),
    { numRuns: 2_000 },
  )
})
