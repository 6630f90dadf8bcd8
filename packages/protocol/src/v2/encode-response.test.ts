import fc from 'fast-check'
import { expect, it } from 'vitest'
import { encodeBytes } from '../bytes.ts'
import { ConchError } from '../status.ts'
import type { Tensor } from '../tensor.ts'
import { encodeInferResponse } from './encode-response.ts'
import { createRequest, parseInferRequest } from './parse-request.ts'
import type { InferResponse } from './response.ts'
import { formatDouble } from './write-number.ts'

const REQUEST = createRequest({ model: 'm', version: '' })
const toBytes = (array: ArrayBufferView) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength)
const tensor = (name: string, datatype: Tensor['datatype'], shape: number[], data: Uint8Array): Tensor => ({
  name,
  datatype,
  shape,
  data,
})
const response = (...outputs: Tensor[]): InferResponse => ({
  model: 'm',
  version: '1',
  id: '',
  parameters: {},
  outputs,
})
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
const encode = (answer: InferResponse, request = REQUEST) => text(encodeInferResponse(answer, request).json)
const data = (output: Tensor) => /"data":(.*)\}\]\}$/s.exec(encode(response(output)))?.[1]

// As recorded from the original, last digits included.
it.each([
  [
    'FP32',
    Float32Array.of(0.1, 0.2, 1e-7, 1e7, 1e21, 1e22, 123456.789, 1.5, 3.4028235e38, 1e-45, 5e-324, 1e16),
    '[0.10000000149011612,0.20000000298023225,1.0000000116860974e-7,10000000.0,1.0000000200408774e21,9.999999778196309e21,123456.7890625,1.5,3.4028234663852887e38,1.401298464324817e-45,0.0,10000000272564224.0]',
  ],
  [
    'FP64',
    Float64Array.of(0.1, 1e-7, 1e21, 1e22, 1e16, 123456789012345680, 5e-324, 1.7976931348623157e308, -0),
    '[0.1,1e-7,1e21,1e22,10000000000000000.0,123456789012345680.0,5e-324,1.7976931348623157e308,-0.0]',
  ],
  [
    'FP32',
    Float32Array.of(0.1, 1e20, -0, 1, 16777217, 3.4e38),
    '[0.10000000149011612,100000002004087730000.0,-0.0,1.0,16777216.0,3.3999999521443644e38]',
  ],
  ['FP32', Float32Array.of(Number.NaN, Infinity, -Infinity), '[NaN,Infinity,-Infinity]'],
  [
    'INT64',
    BigInt64Array.of(9007199254740993n, -(2n ** 63n), 0n, -1n, 2n ** 63n - 1n, -(2n ** 31n), 2n ** 31n),
    '[9007199254740993,-9223372036854775808,0,-1,9223372036854775807,-2147483648,2147483648]',
  ],
  ['UINT64', BigUint64Array.of(2n ** 64n - 1n, 7n), '[18446744073709551615,7]'],
  ['INT32', Int32Array.of(-(2 ** 31), 2 ** 31 - 1, 0), '[-2147483648,2147483647,0]'],
  ['UINT32', Uint32Array.of(2 ** 32 - 1, 10000, 9999, 123456), '[4294967295,10000,9999,123456]'],
  ['INT16', Int16Array.of(-32768, 10), '[-32768,10]'],
  ['UINT16', Uint16Array.of(65535), '[65535]'],
  ['INT8', Int8Array.of(-128, 127), '[-128,127]'],
  ['UINT8', Uint8Array.of(1, 2, 3, 255), '[1,2,3,255]'],
  ['BOOL', Uint8Array.of(1, 0, 7), '[true,false,true]'],
] as const)('writes %s as recorded', (datatype, array, expected) => {
  expect(data(tensor('o', datatype, [array.length], toBytes(array)))).toBe(expected)
})

it('escapes strings as recorded and passes other bytes on unchecked', () => {
  const items = ['a', 'é\n"', '', '😀/\\\t\u0001\u001f']
  expect(data(tensor('o', 'BYTES', [4], encodeBytes(items)))).toBe(String.raw`["a","é\n\"","","😀/\\\t\u0001\u001F"]`)
  const { json } = encodeInferResponse(
    response(tensor('o', 'BYTES', [1], encodeBytes([Uint8Array.of(0xff, 0xfe)]))),
    REQUEST,
  )
  expect([...json.subarray(-8)]).toEqual([0x22, 0xff, 0xfe, 0x22, 0x5d, 0x7d, 0x5d, 0x7d])
})

it('has the members and the order of the original', () => {
  const answer = {
    ...response(tensor('O', 'INT32', [1, 2], toBytes(Int32Array.of(1, 2)))),
    id: 'abc-1',
    parameters: { s: 'x', i: 3n, d: 123.123, b: false },
  }
  expect(encode(answer)).toBe(
    '{"id":"abc-1","model_name":"m","model_version":"1","parameters":{"s":"x","i":3,"d":123.123,"b":false},"outputs":[{"name":"O","datatype":"INT32","shape":[1,2],"data":[1,2]}]}',
  )
  expect(encode(response())).toBe('{"model_name":"m","model_version":"1","outputs":[]}')
})

it('delivers each output the way it was asked for', () => {
  const a = tensor('A', 'FP32', [2], toBytes(Float32Array.of(1, 2)))
  const b = tensor('B', 'FP32', [1], toBytes(Float32Array.of(3)))
  const c = tensor('C', 'FP32', [0], new Uint8Array(0))
  const region = { name: 'r', offset: 0, byteSize: 4 }
  const wanted = {
    ...REQUEST,
    outputs: [
      { name: 'A', binary: true, classification: 0, region: undefined },
      { name: 'B', binary: false, classification: 0, region },
      { name: 'C', binary: true, classification: 0, region: undefined },
    ],
  }
  const encoded = encodeInferResponse(response(a, b, c), wanted)
  expect(text(encoded.json)).toBe(
    '{"model_name":"m","model_version":"1","outputs":[{"name":"A","datatype":"FP32","shape":[2],"parameters":{"binary_data_size":8}},{"name":"B","datatype":"FP32","shape":[1]},{"name":"C","datatype":"FP32","shape":[0],"parameters":{"binary_data_size":0}}]}',
  )
  expect(encoded.parts).toEqual([a.data])
  expect(encoded.parts[0]).toBe(a.data)
  expect(encoded.binary).toBe(true)
  expect(encodeInferResponse(response(c), { ...REQUEST, binaryOutputs: true }).binary).toBe(false)
})

it.each([
  [
    'FP16',
    [2],
    4,
    'INVALID_ARG',
    'sending FP16 data via JSON is not supported. Please use the binary data format for output',
  ],
  [
    'BF16',
    [2],
    4,
    'INVALID_ARG',
    'sending BF16 data via JSON is not supported. Please use the binary data format for output',
  ],
  [
    'FP32',
    [2],
    4,
    'INTERNAL',
    "Failed to write 'data' field: output tensor shape does not match size of output for 'o'",
  ],
  [
    'BYTES',
    [1],
    6,
    'INTERNAL',
    "Failed to write 'data' field: output tensor shape does not match size of output for 'o'",
  ],
] as const)('refuses %s %j of %i bytes', (datatype, shape, size, code, message) => {
  const call = () => encode(response(tensor('o', datatype, [...shape], new Uint8Array(size).fill(1))))
  expect(call).toThrow(ConchError)
  expect(call).toThrow(expect.objectContaining({ code, message: expect.stringContaining(message) as string }) as Error)
})

const double = fc.oneof(
  fc.double(),
  fc.float(),
  fc.integer(),
  fc.integer().map((n) => n / 1000),
  fc
    .tuple(fc.integer({ min: -(2 ** 53), max: 2 ** 53 }), fc.integer({ min: -60, max: 60 }))
    .map(([m, e]) => m * 2 ** e),
)

it('writes every double with the digits of Grisu2', () => {
  fc.assert(
    fc.property(fc.array(double, { minLength: 1, maxLength: 50 }), (numbers) => {
      expect(data(tensor('o', 'FP64', [numbers.length], toBytes(Float64Array.from(numbers))))).toBe(
        `[${numbers.map(formatDouble).join(',')}]`,
      )
    }),
    { numRuns: 3000 },
  )
})

it('writes every float as the double it is', () => {
  const bits = fc
    .array(fc.integer({ min: 0, max: 2 ** 32 - 1 }), { minLength: 1, maxLength: 50 })
    .map((words) => new Float32Array(Uint32Array.from(words).buffer))
  fc.assert(
    fc.property(bits, (floats) => {
      expect(data(tensor('o', 'FP32', [floats.length], toBytes(floats)))).toBe(
        `[${Array.from(floats, formatDouble).join(',')}]`,
      )
    }),
    { numRuns: 3000 },
  )
})

it('writes at most 17 digits, which read back as the same double', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      const text = formatDouble(value)
      expect(Number(text)).toBe(value)
      expect(text.replace(/e.*|[-.]/g, '').replace(/^0+|0+$/g, '').length).toBeLessThanOrEqual(17)
    }),
    { numRuns: 3000 },
  )
})

it('round-trips every datatype that JSON can carry, from any alignment', () => {
  const widths = {
    BOOL: 1,
    UINT8: 1,
    UINT16: 2,
    UINT32: 4,
    UINT64: 8,
    INT8: 1,
    INT16: 2,
    INT32: 4,
    INT64: 8,
    FP32: 4,
    FP64: 8,
  } as const
  const datatypes = Object.keys(widths) as (keyof typeof widths)[]
  fc.assert(
    fc.property(
      fc.constantFrom(...datatypes),
      fc.uint8Array({ minLength: 8, maxLength: 64 }),
      fc.nat(7),
      (datatype, bytes, shift) => {
        const width = widths[datatype]
        const count = Math.floor(bytes.length / width)
        const moved = new Uint8Array(bytes.length + shift)
        moved.set(bytes, shift)
        const values = moved.subarray(shift, shift + count * width)
        if (datatype === 'BOOL') for (let i = 0; i < count; i += 1) values[i] = (values[i] ?? 0) & 1
        const json = encode(response(tensor('A', datatype, [count], values))).replace('"outputs"', '"inputs"')
        const [back] = parseInferRequest(new TextEncoder().encode(json), undefined, {
          model: 'm',
          version: '',
          maxInputSize: 1 << 20,
        }).inputs
        // NaN comes back as another NaN: floats are compared by what is written.
        const same = datatype.startsWith('FP')
          ? data(tensor('A', datatype, [count], back?.data ?? new Uint8Array(0))) ===
            data(tensor('A', datatype, [count], values))
          : String(back?.data) === String(values)
        expect(same).toBe(true)
      },
    ),
    { numRuns: 2000 },
  )
})

it('round-trips BYTES that are text', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary' })), (items) => {
      const output = tensor('A', 'BYTES', [items.length], encodeBytes(items))
      const json = encode(response(output)).replace('"outputs"', '"inputs"')
      const [back] = parseInferRequest(new TextEncoder().encode(json), undefined, {
        model: 'm',
        version: '',
        maxInputSize: 1 << 20,
      }).inputs
      expect(back?.data ?? null).toEqual(items.length === 0 ? new Uint8Array(0) : output.data)
    }),
  )
})
