import { expect, it } from 'vitest'
import { parseInferRequest } from './parse-request.ts'

const TARGET = { model: 'm', version: '', maxInputSize: 1 << 26 }
const parse = (text: string) => parseInferRequest(new TextEncoder().encode(text), undefined, TARGET)
const withShape = (shape: string, datatype = 'FP32') =>
  `{"inputs":[{"name":"A","shape":${shape},"datatype":"${datatype}","data":[]}]}`

// No dimension is rounded on the way into a message.
it.each([
  [
    '[9223372036854775808,1]',
    "invalid shape for input 'A': shape [9223372036854775808,1] contains one or more invalid",
  ],
  ['[ 18446744073709551615 , 16 ]', "invalid shape for input 'A': shape [18446744073709551615,16] contains one or"],
  ['[18446744073709551616]', "Unable to parse 'shape': attempt to access JSON non-unsigned-integer"],
  [
    '[16,1152921504606846978]',
    'shape [16,1152921504606846978] causes total element count to exceed maximum size of 9223',
  ],
  [
    '[4294967296,4294967296]',
    'shape [4294967296,4294967296] causes total element count to exceed maximum size of 9223372',
  ],
  ['[4611686018427387904]', "byte size overflow for input 'A'"],
  ['[9007199254740993]', 'shape [9007199254740993] takes 36028797018963972 bytes'],
  ['[0,4611686018427387904]', 'shape [0,4611686018427387904] takes 0 bytes'],
  [
    '[1,1000000000]',
    "JSON input 'A' has a byte_size (4000000000 bytes) that exceeds the maximum allowed value of 67108864",
  ],
  ['[4503599627370495,3]', "JSON input 'A' has a byte_size (54043195528445940 bytes) that exceeds"],
])('refuses shape %s', (shape, text) => {
  expect(() => parse(withShape(shape))).toThrow(text)
})

it('takes every unsigned 64-bit number as a priority', () => {
  const request = (priority: string) => parse(`{"inputs":[],"parameters":{"priority":${priority}}}`).priority
  expect(request('18446744073709551615')).toBe(2 ** 64)
  expect(() => request('18446744073709551616')).toThrow("Unable to parse 'priority'")
  expect(() => request('18446744073709551620')).toThrow("Unable to parse 'priority'")
})

it('takes ten thousand inputs, outputs and parameters, not more', () => {
  const list = (count: number, entry: (i: number) => string) => Array.from({ length: count }, (_, i) => entry(i)).join()
  const input = (i: number) => `{"name":"n${i}","shape":[1],"datatype":"INT8","data":[1]}`
  const all = (count: number) => ({
    inputs: `{"inputs":[${list(count, input)}]}`,
    outputs: `{"inputs":[],"outputs":[${list(count, (i) => `{"name":"n${i}"}`)}]}`,
    parameters: `{"inputs":[],"parameters":{${list(count, (i) => `"p${i}":1`)}}}`,
  })
  expect(parse(all(10_000).inputs).inputs).toHaveLength(10_000)
  expect(parse(all(10_000).outputs).outputs).toHaveLength(10_000)
  expect(Object.keys(parse(all(10_000).parameters).parameters)).toHaveLength(10_000)
  for (const [what, text] of Object.entries(all(10_001))) {
    expect(() => parse(text)).toThrow(`a request may have at most 10000 ${what}`)
  }
})

it('names an input given twice', () => {
  const input = '{"name":"n","shape":[1],"datatype":"INT8","data":[1]}'
  expect(() => parse(`{"id":"q","inputs":[${input},${input}]}`)).toThrow("[request id: q] input 'n' already exists")
})
