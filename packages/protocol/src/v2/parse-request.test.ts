import fc from 'fast-check'
import { expect, it } from 'vitest'
import { encodeBytes } from '../bytes.ts'
import { viewElements } from '../elements.ts'
import { ConchError } from '../status.ts'
import { parseInferRequest } from './parse-request.ts'

const TARGET = { model: 'm', version: '', maxInputSize: 1 << 26 }
const encode = (text: string) => new TextEncoder().encode(text)
const parse = (body: unknown) =>
  parseInferRequest(encode(typeof body === 'string' ? body : JSON.stringify(body)), undefined, TARGET)
const input = (datatype: string, shape: unknown, data: unknown, name = 'A') => ({ name, shape, datatype, data })
const values = (body: unknown) => {
  const [tensor] = parse(body).inputs
  if (tensor === undefined) throw new Error('no input')
  return [...viewElements(tensor.datatype, tensor.data)]
}
function refusal(body: unknown) {
  try {
    parse(body)
  } catch (error) {
    if (error instanceof ConchError) return [error.code, error.message]
    throw error
  }
  return 'accepted'
}

it('fills every field', () => {
  const request = parse({
    id: 'abc-1',
    parameters: {
      sequence_id: 5,
      sequence_start: true,
      priority: 2,
      timeout: 100,
      binary_data_output: true,
      s: 'x',
      d: 0.5,
      i: 3,
      b: false,
    },
    inputs: [input('FP32', [1, 2], [1, 2])],
    outputs: [
      { name: 'O', parameters: { binary_data: true } },
      { name: 'P', parameters: { classification: 3 } },
      { name: 'O' },
    ],
  })
  expect(request).toMatchObject({
    model: 'm',
    version: '',
    id: 'abc-1',
    sequenceId: 5n,
    sequenceStart: true,
    sequenceEnd: false,
    priority: 2,
    timeout: 100,
    binaryOutputs: true,
  })
  expect({ ...request.parameters }).toEqual({ s: 'x', d: 0.5, i: 3n, b: false })
  expect(request.outputs).toEqual([
    { name: 'O', binary: true, classification: 0, region: undefined },
    { name: 'P', binary: false, classification: 3, region: undefined },
  ])
  expect(request.inputs[0]?.shape).toEqual([1, 2])
})

it.each([
  ['BOOL', '[true,false]', [1, 0]],
  ['UINT8', '[0,255,256]', [0, 255, 0]],
  ['UINT16', '[65535,65536]', [65535, 0]],
  ['UINT32', '[4294967295,4294967296]', [4294967295, 0]],
  ['UINT64', '[18446744073709551615,9007199254740993,0]', [18446744073709551615n, 9007199254740993n, 0n]],
  ['INT8', '[-128,127,300]', [-128, 127, 44]],
  ['INT16', '[-32768,70000]', [-32768, 4464]],
  ['INT32', '[-2147483648,2147483647]', [-2147483648, 2147483647]],
  ['INT64', '[-9223372036854775808,9223372036854775807,-1]', [-9223372036854775808n, 9223372036854775807n, -1n]],
  ['FP32', '[0.1,1e39,NaN,Infinity,-Inf,1]', [Math.fround(0.1), Infinity, Number.NaN, Infinity, -Infinity, 1]],
  ['FP64', '[0.1,5e-324,1.7976931348623157e308,-0.0]', [0.1, 5e-324, 1.7976931348623157e308, -0]],
  ['FP64', '[ 1e0,\t1.0E+1 ,\n -0.5e-1, [12]]', [1, 10, -0.05, 12]],
])('reads %s %s', (datatype, data, expected) => {
  expect(
    values(`{"inputs":[{"name":"A","shape":[${expected.length}],"datatype":"${datatype}","data":${data}}]}`),
  ).toEqual(expected)
})

it.each([['[1,2,3,4]'], ['[[1,2],[3,4]]'], ['[[[1],[2]],[[3],[4]]]'], ['[[1,2,3,4]]'], ['[[],[1,2,3,4]]']])(
  'takes the nesting %s',
  (data) => {
    expect(values(`{"inputs":[{"name":"A","shape":[2,2],"datatype":"INT32","data":${data}}]}`)).toEqual([1, 2, 3, 4])
  },
)

it('reads data that comes before shape and datatype', () => {
  expect(values('{"inputs":[{"data":[1,2],"name":"A","datatype":"INT32","shape":[2]}]}')).toEqual([1, 2])
})

it('keeps BYTES as the UTF-8 bytes of the strings', () => {
  const body = String.raw`{"inputs":[{"name":"A","shape":[4],"datatype":"BYTES","data":["","a\u0000b","\ud83d\ude00/\\\t\u0001","é"]}]}`
  expect(parse(body).inputs[0]?.data).toEqual(encodeBytes(['', 'a\0b', '😀/\\\t\u0001', 'é']))
})

it('takes an empty tensor without looking at its data', () => {
  expect(parse({ inputs: [input('FP32', [0], [])] }).inputs[0]).toMatchObject({ shape: [0], data: new Uint8Array(0) })
  expect(parse({ inputs: [input('FP32', [2, 0], ['x'])] }).inputs[0]?.data).toHaveLength(0)
})

it('lets the first of equal members count', () => {
  const body =
    '{"inputs":[{"name":"A","name":"B","shape":[1],"shape":[9],"datatype":"INT32","data":[7],"data":["x"]}],"id":"1","id":2}'
  expect(parse(body)).toMatchObject({ id: '1', inputs: [{ name: 'A', shape: [1] }] })
})

it('treats __proto__ like any other parameter', () => {
  const { parameters } = parse('{"inputs":[],"parameters":{"__proto__":"x"}}')
  expect(Object.keys(parameters)).toEqual(['__proto__'])
  expect(({} as Record<string, unknown>)['x']).toBeUndefined()
})

const I = input('FP32', [1, 2], [1, 2])
const JSON_ERROR = 'failed to parse the request JSON buffer: '
const json = (member: string, kind: string) => `Unable to parse '${member}': attempt to access JSON non-${kind}`
it.each([
  ['{not json', 'INTERNAL', `${JSON_ERROR}Missing a name for object member. at 1`],
  ['', 'INTERNAL', `${JSON_ERROR}The document is empty. at 0`],
  ['{', 'INTERNAL', `${JSON_ERROR}Missing a name for object member. at 1`],
  ['{"a"}', 'INTERNAL', `${JSON_ERROR}Missing a colon after a name of object member. at 4`],
  ['{"a":1 "b"}', 'INTERNAL', `${JSON_ERROR}Missing a comma or } after an object member. at 7`],
  ['{"inputs":[],}', 'INTERNAL', `${JSON_ERROR}Missing a name for object member. at 13`],
  ['{"a":[1 2]}', 'INTERNAL', `${JSON_ERROR}Missing a comma or ] after an array element. at 8`],
  ['{"a":[1,]}', 'INTERNAL', `${JSON_ERROR}Invalid value. at 8`],
  ['{"a":tru}', 'INTERNAL', `${JSON_ERROR}Invalid value. at 8`],
  ['{"a":"b', 'INTERNAL', `${JSON_ERROR}Missing a closing quotation mark in string. at 7`],
  ['{"a":"\n"}', 'INTERNAL', `${JSON_ERROR}Invalid encoding in string. at 6`],
  [
    String.raw`{"a":"\u12g4"}`,
    'INTERNAL',
    String.raw`${JSON_ERROR}Incorrect hex digit after \u escape in string. at 6`,
  ],
  [String.raw`{"a":"\ud800x"}`, 'INTERNAL', `${JSON_ERROR}The surrogate pair in string is invalid. at 6`],
  [String.raw`{"a":"\x"}`, 'INTERNAL', `${JSON_ERROR}Invalid escape character in string. at 6`],
  ['{"a":1e400}', 'INTERNAL', `${JSON_ERROR}Number too big to be stored in double. at 5`],
  ['{"a":1.}', 'INTERNAL', `${JSON_ERROR}Miss fraction part in number. at 7`],
  ['{"a":1e}', 'INTERNAL', `${JSON_ERROR}Miss exponent in number. at 7`],
  ['{"inputs":[]}{}', 'INTERNAL', `${JSON_ERROR}The document root must not be followed by other values. at 13`],
  [
    '{"inputs":[{"name":"A","shape":[1],"datatype":"FP32","data":[01]}]}',
    'INTERNAL',
    `${JSON_ERROR}Missing a comma or ] after an array element. at 62`,
  ],
  ['[]', 'INTERNAL', "Unable to parse 'inputs': attempt to access non-existing object member 'inputs'"],
  ['{}', 'INTERNAL', "Unable to parse 'inputs': attempt to access non-existing object member 'inputs'"],
  [{ inputs: {} }, 'INTERNAL', json('inputs', 'array as array')],
  [{ inputs: [5] }, 'INTERNAL', 'attempt to access JSON non-object as object'],
  [{ inputs: [], outputs: {} }, 'INTERNAL', json('outputs', 'array as array')],
  [
    { inputs: [], outputs: [{}] },
    'INTERNAL',
    "Unable to parse 'name': attempt to access non-existing object member 'name'",
  ],
  [{ inputs: [I], id: 5 }, 'INTERNAL', json('id', 'string as string')],
  [
    { inputs: [I], parameters: 'x' },
    'INTERNAL',
    'failed to get request params.: attempt to get members for non-object',
  ],
  [
    { inputs: [I], parameters: { my_o: { a: 1 } } },
    'INVALID_ARG',
    "parameter 'my_o' has invalid type. It should be either 'int', 'bool', or 'string'.",
  ],
  [
    { inputs: [I], parameters: { my_n: null } },
    'INVALID_ARG',
    "parameter 'my_n' has invalid type. It should be either 'int', 'bool', or 'string'.",
  ],
  [
    { inputs: [I], parameters: { triton_x: 1 } },
    'INVALID_ARG',
    "parameter keys starting with 'triton_' are reserved for Triton usage and should not be specified.",
  ],
  [{ inputs: [I], parameters: { sequence_id: -1 } }, 'INTERNAL', json('sequence_id', 'string as string')],
  [
    { inputs: [I], parameters: { sequence_id: 'x'.repeat(129) } },
    'UNSUPPORTED',
    'string correlation ID cannot be longer than 128 characters',
  ],
  [{ inputs: [I], parameters: { sequence_start: 'yes' } }, 'INTERNAL', json('sequence_start', 'boolean as boolean')],
  [
    { inputs: [I], parameters: { priority: 'high' } },
    'INTERNAL',
    json('priority', 'unsigned-integer as unsigned-integer'),
  ],
  [{ inputs: [I, I] }, 'INVALID_ARG', "[request id: <id_unknown>] input 'A' already exists in request"],
  [
    { inputs: [{ ...I, name: undefined }] },
    'INTERNAL',
    "Unable to parse 'name': attempt to access non-existing object member 'name'",
  ],
  [{ inputs: [{ ...I, name: 5 }] }, 'INTERNAL', json('name', 'string as string')],
  [
    { inputs: [{ ...I, shape: undefined }] },
    'INTERNAL',
    "Unable to parse 'shape': attempt to access non-existing object member 'shape'",
  ],
  [
    { inputs: [{ ...I, datatype: undefined }] },
    'INTERNAL',
    "Unable to parse 'datatype': attempt to access non-existing object member 'datatype'",
  ],
  [{ inputs: [{ ...I, shape: '4' }] }, 'INTERNAL', json('shape', 'array as array')],
  [{ inputs: [{ ...I, shape: {} }] }, 'INTERNAL', json('shape', 'array as array')],
  [{ inputs: [{ ...I, shape: [-1, 2] }] }, 'INTERNAL', json('shape', 'unsigned-integer as unsigned-integer')],
  [{ inputs: [{ ...I, shape: [4.5] }] }, 'INTERNAL', json('shape', 'unsigned-integer as unsigned-integer')],
  [{ inputs: [{ ...I, shape: [null] }] }, 'INTERNAL', json('shape', 'unsigned-integer as unsigned-integer')],
  [{ inputs: [{ ...I, datatype: 'STRING' }] }, 'INVALID_ARG', "invalid datatype for input A: 'STRING' is none of BOOL"],
  [
    { inputs: [{ ...I, data: undefined }] },
    'INVALID_ARG',
    "'shared_memory_region' in 'parameters'. But no field is set",
  ],
  [{ inputs: [{ ...I, parameters: { binary_data_size: 8 } }] }, 'INVALID_ARG', "But set 'data' 'binary_data_size'"],
  [{ inputs: [{ ...I, data: 5 }] }, 'INTERNAL', json('data', 'array as array')],
  [
    { inputs: [{ ...I, data: [1] }] },
    'INTERNAL',
    "Unable to parse 'data': Shape does not match true shape of 'data' field: input 'A' of shape [1,2] takes 2 elements, got 1",
  ],
  [
    { inputs: [{ ...I, data: [1, 2, 3] }] },
    'INTERNAL',
    "Unable to parse 'data': Shape does not match true shape of 'data' field: input 'A' of shape [1,2] takes 2 elements, got 3",
  ],
  [{ inputs: [{ ...I, data: [1, 'x'] }] }, 'INTERNAL', json('data', 'number as double')],
  [{ inputs: [{ ...I, data: [1, null] }] }, 'INTERNAL', json('data', 'number as double')],
  [{ inputs: [input('BOOL', [1], [1])] }, 'INTERNAL', json('data', 'boolean as boolean')],
  [{ inputs: [input('INT64', [1], [1.5])] }, 'INTERNAL', json('data', 'signed-integer as signed-integer')],
  [
    '{"inputs":[{"name":"A","shape":[1],"datatype":"INT64","data":[1.0]}]}',
    'INTERNAL',
    json('data', 'signed-integer as signed-integer'),
  ],
  [
    '{"inputs":[{"name":"A","shape":[1],"datatype":"INT64","data":[9223372036854775808]}]}',
    'INTERNAL',
    json('data', 'signed-integer as signed-integer'),
  ],
  [
    '{"inputs":[{"name":"A","shape":[1],"datatype":"INT64","data":[-9223372036854775809]}]}',
    'INTERNAL',
    json('data', 'signed-integer as signed-integer'),
  ],
  [
    '{"inputs":[{"name":"A","shape":[1],"datatype":"UINT64","data":[18446744073709551616]}]}',
    'INTERNAL',
    json('data', 'unsigned-integer as unsigned-integer'),
  ],
  [{ inputs: [input('UINT8', [1], [-1])] }, 'INTERNAL', json('data', 'unsigned-integer as unsigned-integer')],
  [
    { inputs: [input('BYTES', [1], [5])] },
    'INTERNAL',
    'Unable to parse JSON bytes array: attempt to access JSON non-string as string',
  ],
  [
    { inputs: [input('FP16', [1], [1])] },
    'INVALID_ARG',
    'receiving FP16 data via JSON is not supported. Please use the binary data format for input A',
  ],
  [
    { inputs: [input('BF16', [1], [1])] },
    'INVALID_ARG',
    'receiving BF16 data via JSON is not supported. Please use the binary data format for input A',
  ],
  [
    { inputs: [input('FP32', [4294967296, 4294967296], [])] },
    'INVALID_ARG',
    "invalid shape for input 'A': shape [4294967296,4294967296] causes total element count to exceed maximum size of 9223372036854775807",
  ],
  [
    '{"inputs":[{"name":"A","shape":[9223372036854775808],"datatype":"FP32","data":[]}]}',
    'INVALID_ARG',
    'contains one or more invalid dimensions',
  ],
  [
    { inputs: [input('FP32', [16777217], [1])] },
    'INVALID_ARG',
    "JSON input 'A' has a byte_size (67108868 bytes) that exceeds the maximum allowed value of 67108864 bytes. Use --http-max-input-size to increase the limit.",
  ],
  [
    { inputs: [], outputs: [{ name: 'O', parameters: { shared_memory_region: 'r', classification: 1 } }] },
    'INVALID_ARG',
    "Output can't set both 'shared_memory_region' and 'classification'",
  ],
  [
    { inputs: [], outputs: [{ name: 'O', parameters: { shared_memory_region: 'r', binary_data: true } }] },
    'INVALID_ARG',
    "Output can't set both 'shared_memory_region' and 'binary_data'",
  ],
])('refuses %j', (body, code, message) => {
  const [gotCode, gotMessage] = refusal(body)
  expect(gotCode).toBe(code)
  expect(gotMessage).toContain(message)
})

it('reports a syntax error before anything else', () => {
  expect(refusal('{"inputs":[{"name":"A","shape":[1],"datatype":"FP32","data":["x"]}],}')[1]).toContain(
    'Missing a name for object member. at 68',
  )
})

it('reads 100 levels of nesting and refuses 101', () => {
  const nested = (depth: number) =>
    `{"inputs":[{"name":"A","shape":[1],"datatype":"FP32","data":${'['.repeat(depth)}1${']'.repeat(depth)}}]}`
  expect(values(nested(100))).toEqual([1])
  expect(refusal(nested(101))).toEqual([
    'INVALID_ARG',
    "Unable to parse 'data': JSON nesting depth exceeds maximum allowed limit (100)",
  ])
  expect(refusal(nested(1_000_000))).toEqual([
    'INVALID_ARG',
    "Unable to parse 'data': JSON nesting depth exceeds maximum allowed limit (100)",
  ])
})

it('passes over a million levels where nobody asked', () => {
  expect(parse(`{"x":${'['.repeat(1e6)}${']'.repeat(1e6)},"inputs":[]}`).inputs).toEqual([])
})

function binary(json: object, ...parts: Uint8Array[]) {
  const head = encode(JSON.stringify(json))
  const body = new Uint8Array(parts.reduce((size, part) => size + part.length, head.length))
  body.set(head)
  let at = head.length
  for (const part of parts) {
    body.set(part, at)
    at += part.length
  }
  return { body, length: head.length }
}
const raw = (name: string, size: number) => ({
  name,
  shape: [1, 2],
  datatype: 'FP32',
  parameters: { binary_data_size: size },
})

it('takes binary tensors in order, as views on the body', () => {
  const { body, length } = binary(
    { inputs: [raw('A', 8), I1('B'), raw('C', 0), raw('D', 8)] },
    new Uint8Array(8).fill(1),
    new Uint8Array(8).fill(2),
  )
  const { inputs } = parseInferRequest(body, length, TARGET)
  expect(inputs.map((tensor) => [tensor.name, tensor.data.length, tensor.data[0]])).toEqual([
    ['A', 8, 1],
    ['B', 8, 0],
    ['C', 0, undefined],
    ['D', 8, 2],
  ])
  expect(inputs[0]?.data.buffer).toBe(body.buffer)
})
const I1 = (name: string) => input('FP32', [1, 2], [1, 2], name)

it.each([
  [[raw('A', 8)], 4, "unexpected size for input 'A', expecting 4 additional bytes for model 'm'"],
  [[raw('A', 8)], 12, "unexpected additional input data for model 'm'"],
  [
    [{ ...raw('A', 8), parameters: { binary_data_size: -4 } }],
    8,
    "Unable to parse 'binary_data_size': attempt to access JSON non-unsigned-integer as unsigned-integer",
  ],
])('refuses binary data that does not fit: %j with %i bytes', (inputs, size, message) => {
  const { body, length } = binary({ inputs }, new Uint8Array(size))
  expect(() => parseInferRequest(body, length, TARGET)).toThrow(message)
})

it('says which header is missing when binary data comes without it', () => {
  expect(() => parse({ inputs: [raw('A', 8)] })).toThrow(
    "expecting 8 additional bytes for model 'm'; a request with binary data needs the header Inference-Header-Content-Length",
  )
})

it.each([[-5], [100000]])('refuses the header length %i', (length) => {
  expect(() => parseInferRequest(encode('{"inputs":[]}'), length, TARGET)).toThrow(
    `inference header size should be in range (0, 13), got: ${length}`,
  )
})

it('refuses JSON beyond the limit', () => {
  expect(() => parseInferRequest(encode('{"inputs":[]}'), undefined, { ...TARGET, maxInputSize: 12 })).toThrow(
    'request JSON size of 13 bytes exceeds the maximum allowed input size of 12 bytes. Use --http-max-input-size to increase the limit.',
  )
})

it('keeps the region of a shared-memory input', () => {
  const parameters = { shared_memory_region: 'r', shared_memory_offset: 4, shared_memory_byte_size: 8 }
  expect(parse({ inputs: [{ name: 'A', shape: [2], datatype: 'FP32', parameters }] }).inputs[0]).toMatchObject({
    region: { name: 'r', offset: 4, byteSize: 8 },
    data: new Uint8Array(0),
  })
})

const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.float({ noNaN: true, noDefaultInfinity: true }),
  fc.integer().map((n) => n / 1000),
  fc.integer(),
)

it('reads every double that JSON.stringify writes as JSON.parse does', () => {
  fc.assert(
    fc.property(fc.array(number, { minLength: 1, maxLength: 40 }), (numbers) => {
      const text = JSON.stringify(numbers)
      expect(values(`{"inputs":[{"name":"A","shape":[${numbers.length}],"datatype":"FP64","data":${text}}]}`)).toEqual(
        JSON.parse(text),
      )
    }),
    { numRuns: 2000 },
  )
})

it('reads any spelling of a number as Number does', () => {
  const digits = (max: number) =>
    fc.string({ unit: fc.constantFrom(...'0123456789'.split('')), minLength: 1, maxLength: max })
  const spelling = fc
    .tuple(
      fc.constantFrom('', '-'),
      fc.oneof(
        fc.constant('0'),
        digits(22).map((d) => `1${d}`),
      ),
      fc.option(digits(30)),
      fc.option(fc.integer({ min: -330, max: 280 })),
    )
    .map(
      ([sign, whole, fraction, e]) =>
        `${sign}${whole}${fraction === null ? '' : `.${fraction}`}${e === null ? '' : `e${e}`}`,
    )
  fc.assert(
    fc.property(fc.array(spelling, { minLength: 1, maxLength: 20 }), (texts) => {
      expect(
        values(`{"inputs":[{"name":"A","shape":[${texts.length}],"datatype":"FP64","data":[${texts.join(', ')}]}]}`),
      ).toEqual(texts.map(Number))
    }),
    { numRuns: 2000 },
  )
})

it('reads any 64-bit integer exactly', () => {
  fc.assert(
    fc.property(
      fc.array(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), { minLength: 1 }),
      fc.integer({ min: 0, max: 62 }),
      (integers, shift) => {
        const numbers = integers.map((n) => n >> BigInt(shift))
        const signed = `{"inputs":[{"name":"A","shape":[${numbers.length}],"datatype":"INT64","data":[${numbers.join()}]}]}`
        expect(values(signed)).toEqual(numbers)
        const positive = numbers.map((n) => BigInt.asUintN(64, n))
        expect(
          values(signed.replace('INT64', 'UINT64').replace(/"data":.*/, `"data":[${positive.join()}]}]}`)),
        ).toEqual(positive)
      },
    ),
  )
})

it('answers any bytes with a request or a ConchError', () => {
  const seed = encode(
    '{"id":"x","inputs":[{"name":"A","shape":[2],"datatype":"FP32","data":[1.5,-2e3]},{"name":"S","shape":[1],"datatype":"BYTES","data":["\\u00e9"]}],"outputs":[{"name":"O"}]}',
  )
  const mutated = fc.array(fc.tuple(fc.nat(seed.length - 1), fc.nat(255)), { maxLength: 6 }).map((edits) => {
    const bytes = seed.slice()
    for (const [at, value] of edits) bytes[at] = value
    return bytes
  })
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array({ maxLength: 200 }), mutated), fc.option(fc.nat(200)), (bytes, length) => {
      try {
        parseInferRequest(bytes, length ?? undefined, TARGET)
      } catch (error) {
        if (!(error instanceof ConchError)) throw error
      }
    }),
    { numRuns: 5000 },
  )
})

// Each of these made a naive reader quadratic; then they take minutes instead of a blink.
it.each([
  [
    'escapes',
    (n: number) => `{"inputs":[{"name":"A","shape":[1],"datatype":"BYTES","data":["${'\\u00e9'.repeat(n)}"]}]}`,
  ],
  [
    'strings',
    (n: number) => `{"inputs":[{"name":"A","shape":[${n}],"datatype":"BYTES","data":["x"${',"x"'.repeat(n - 1)}]}]}`,
  ],
  [
    'empty arrays',
    (n: number) => `{"inputs":[{"name":"A","shape":[1],"datatype":"FP32","data":[${'[ ],'.repeat(n)}1]}]}`,
  ],
  [
    'long numbers',
    (n: number) => `{"inputs":[{"name":"A","shape":[1],"datatype":"FP64","data":[0.${'1'.repeat(n)}]}]}`,
  ],
  [
    'repeated members',
    (n: number) => `{"inputs":[{"name":"A","shape":[1],"datatype":"FP32",${'"data":[1],'.repeat(n)}"x":1}]}`,
  ],
  ['blanks', (n: number) => `{"inputs":[{"name":"A","shape":[1],"datatype":"FP32","data":[1${' '.repeat(n)}]}]}`],
])('reads 300 000 %s in linear time', (_, make) => {
  expect(parse(make(300_000)).inputs).toHaveLength(1)
})

it('does not multiply a hundred thousand huge dimensions', () => {
  const shape = `[${Array.from({ length: 100_000 }, () => '9223372036854775807').join()}]`
  expect(refusal(`{"inputs":[{"name":"A","shape":${shape},"datatype":"FP32","data":[]}]}`)[0]).toBe('INVALID_ARG')
})

it('rounds to FP32 as Number and then Math.fround do, halfway cases included', () => {
  const floats = fc.integer({ min: 1, max: 0x7f7ffffe }).map((bits) => {
    const [low = 0, high = 0] = new Float32Array(Uint32Array.of(bits, bits + 1).buffer)
    return (low + high) / 2
  })
  const text = fc.oneof(
    floats.map((value) => String(value).replace('e+', 'e')),
    fc
      .tuple(floats, fc.nat(999))
      .map(([value, more]) => (value < 1e20 && value > 1e-6 ? `${value}${more}` : String(value))),
    fc.float({ noNaN: true, noDefaultInfinity: true }).map(String),
  )
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 20 }), (texts) => {
      const body = `{"inputs":[{"name":"A","shape":[${texts.length}],"datatype":"FP32","data":[${texts.join()}]}]}`
      expect(values(body)).toEqual(texts.map((number) => Math.fround(Number(number))))
    }),
    { numRuns: 3000 },
  )
})
