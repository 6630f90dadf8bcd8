import { expect, it } from 'vitest'
import { encodeBytes } from '../bytes.ts'
import { encodeGenerateResponse } from './encode-generate.ts'
import { parseGenerateRequest } from './parse-generate.ts'

const TARGET = { model: 'm', version: '', maxInputSize: 4096 }
const INPUTS = [
  { name: 'text_input', datatype: 'BYTES', shape: [1] },
  { name: 'max_tokens', datatype: 'INT32', shape: [1] },
  { name: 'row', datatype: 'FP32', shape: [-1, 4] },
  { name: 'half', datatype: 'FP16', shape: [1] },
]
const parse = (body: unknown, inputs = INPUTS) =>
  parseGenerateRequest(new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body)), inputs, TARGET)

it('makes tensors of inputs and parameters of the rest', () => {
  const request = parse({ text_input: 'hi', max_tokens: 3, id: 'g1', priority: 1, flag: true, triton_x: 'own' })
  expect(request).toMatchObject({ id: 'g1', priority: 0, outputs: [] })
  expect({ ...request.parameters }).toEqual({ id: 'g1', priority: 1n, flag: true, triton_x: 'own' })
  expect(request.inputs).toEqual([
    { name: 'text_input', datatype: 'BYTES', shape: [1], data: encodeBytes(['hi']), region: undefined },
    { name: 'max_tokens', datatype: 'INT32', shape: [1], data: Uint8Array.of(3, 0, 0, 0), region: undefined },
  ])
})

it('nests inputs and parameters in `parameters`', () => {
  const request = parse({ parameters: { max_tokens: 2, foo: 'bar' } })
  expect(request.inputs[0]?.name).toBe('max_tokens')
  expect({ ...request.parameters }).toEqual({ foo: 'bar' })
})

it.each([
  [
    [1, 2, 3, 4],
    [1, 4],
  ],
  [
    [1, 2, 3, 4, 5, 6, 7, 8],
    [2, 4],
  ],
  [
    [
      [1, 2, 3, 4],
      [5, 6, 7, 8],
    ],
    [2, 4],
  ],
])('fits %j into the shape', (row, shape) => {
  expect(parse({ row }).inputs[0]?.shape).toEqual(shape)
})

it.each([
  ['', 'The document is empty. at 0'],
  ['{', 'Missing a name for object member. at 1'],
  [[], 'attempt to get members for non-object'],
  [{ max_tokens: 'many' }, "Unable to parse 'data': attempt to access JSON non-signed-integer as signed-integer"],
  [{ parameters: 5 }, "Expected JSON object for keyword: 'parameters': "],
  [{ parameters: { x: { a: 1 } } }, "Converting keyword: 'parameters': parameter 'x' has invalid type."],
  [{ extra: [1] }, "parameter 'extra' has invalid type."],
  [
    { row: [1, 2, 3, 4, 5] },
    "The schema can not convert input 'row' to tensor with proper shape: 5 elements do not fit [-1,4]",
  ],
  [{ text_input: ['a', 'b'] }, "The schema can not convert input 'text_input'"],
  [{ half: [1] }, 'receiving FP16 data via JSON is not supported. Please use the binary data format for input half'],
  [{ id: 5 }, "Unable to parse 'id': attempt to access JSON non-string as string"],
  [
    { row: Array.from({ length: 1028 }, () => 1) },
    "request size of 4112 bytes with input 'row' of size 4112 bytes exceeds the maximum allowed input size of 4096.",
  ],
])('refuses %j', (body, message) => {
  expect(() => parse(body)).toThrow(message)
})

it('refuses a nested form where an input has its name', () => {
  expect(() => parse({ parameters: {} }, [{ name: 'parameters', datatype: 'INT32', shape: [1] }])).toThrow(
    "Keyword 'parameters' for nested schema also given as input tensor name",
  )
})

const response = (outputs: { name: string; values: number[] }[], parameters = {}) => ({
  model: 'm',
  version: '1',
  id: '',
  parameters,
  outputs: outputs.map(({ name, values }) => ({
    name,
    datatype: 'FP32' as const,
    shape: [values.length],
    data: new Uint8Array(Float32Array.from(values).buffer),
  })),
})
const encode = (answer: Parameters<typeof encodeGenerateResponse>[0]) =>
  new TextDecoder().decode(encodeGenerateResponse(answer))

it('writes a flat object in order of names', () => {
  expect(
    encode(
      response([
        { name: 'OUT', values: [1, 2] },
        { name: 'z', values: [0.5] },
        { name: 'none', values: [] },
      ]),
    ),
  ).toBe('{"OUT":[1.0,2.0],"model_name":"m","model_version":"1","none":[],"z":0.5}')
  const text = { name: 'text_output', datatype: 'BYTES' as const, shape: [1], data: encodeBytes(['hi']) }
  expect(encode({ ...response([]), id: 'g1', outputs: [text] })).toBe(
    '{"id":"g1","model_name":"m","model_version":"1","text_output":"hi"}',
  )
})

it('lets metadata win over parameters and those over outputs', () => {
  expect(
    encode(
      response(
        [
          { name: 'p', values: [1] },
          { name: 'model_name', values: [1] },
        ],
        { p: 'x', model_version: 'y' },
      ),
    ),
  ).toBe('{"model_name":"m","model_version":"1","p":"x"}')
})
