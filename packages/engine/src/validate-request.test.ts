import { parsePbtxt } from '@conch/protocol'
import type { Tensor } from '@conch/protocol'
import { expect, it } from 'vitest'
import { floats, testRequest } from './testing.ts'
import { RequestValidator } from './validate-request.ts'

const tensors = (kind: string, names: string) =>
  names
    .split(' ')
    .map((name) => `${kind} { name: "${name}" data_type: TYPE_FP32 dims: [ 16 ] }`)
    .join('\n')
const check = (config: string, inputs: readonly Tensor[], outputs: readonly string[] = []) => {
  const validator = new RequestValidator(parsePbtxt(`name: "add_sub" ${config}`).config)
  const wanted = outputs.map((name) => ({ name, binary: true, classification: 0, region: undefined }))
  return validator.check(testRequest('add_sub', inputs, { outputs: wanted }))
}
const ADD_SUB = `max_batch_size: 8 ${tensors('input', 'INPUT0 INPUT1')} ${tensors('output', 'OUTPUT0 OUTPUT1')}`
const NOTE =
  'NOTE: Setting a non-zero max_batch_size in the model config requires a batch dimension to be prepended to each input shape. If you want to specify the full shape including the batch dim in your input dims config, try setting max_batch_size to zero. See the model configuration docs for more info on max_batch_size.'
const ID = '[request id: <id_unknown>] '
const A = (shape: number[]) => floats('INPUT0', shape)
const B = (shape: number[]) => floats('INPUT1', shape)
const STRINGS =
  'input { name: "S" data_type: TYPE_STRING dims: [ 2 ] } output { name: "O" data_type: TYPE_STRING dims: [ 2 ] }'
const X = floats('X', [1, 16])
const int = (tensor: Tensor): Tensor => ({ ...tensor, datatype: 'INT32' })

it('counts rows', () => {
  expect(check(ADD_SUB, [A([4, 16]), B([4, 16])], ['OUTPUT1'])).toEqual({ rows: 4, flaw: undefined })
  expect(check(ADD_SUB.replace('8', '0'), [A([16]), B([16])])).toEqual({ rows: 1, flaw: undefined })
})

it('names a repeated input among many', () => {
  const many = Array.from({ length: 50 }, (_, i) => floats(`X${i}`, [1, 16]))
  expect(() => check(ADD_SUB, [...many, A([1, 16]), A([1, 16])])).toThrow("input 'INPUT0' already exists in request")
  expect(() => check(ADD_SUB, many)).toThrow('expected 2 inputs but got 50 inputs')
})

// Recorded answers of the original, byte for byte.
it.each<[string, Tensor[], string]>([
  [
    'no inputs',
    [],
    `${ID}expected 2 inputs but got 0 inputs for model 'add_sub'. Got input(s) [], but missing required input(s) ['INPUT0','INPUT1']. Please provide all required input(s).`,
  ],
  [
    'a missing input',
    [A([1, 16])],
    `${ID}expected 2 inputs but got 1 inputs for model 'add_sub'. Got input(s) ['INPUT0'], but missing required input(s) ['INPUT1']. Please provide all required input(s).`,
  ],
  [
    'an extra input',
    [A([1, 16]), B([1, 16]), X],
    `${ID}expected 2 inputs but got 3 inputs for model 'add_sub'. Got input(s) ['X','INPUT1','INPUT0'], but missing required input(s) ]. Please provide all required input(s).`,
  ],
  ['an unknown input', [A([1, 16]), X], "unexpected inference input 'X' for model 'add_sub'"],
  ['an input twice', [A([1, 16]), A([1, 16])], `${ID}input 'INPUT0' already exists in request`],
  [
    'another type',
    [int(A([1, 16])), B([1, 16])],
    `${ID}inference input 'INPUT0' data-type is 'INT32', but model 'add_sub' expects 'FP32'`,
  ],
  [
    'another shape',
    [A([1, 8]), B([1, 16])],
    `${ID}unexpected shape for input 'INPUT0' for model 'add_sub'. Expected [-1,16], got [1,8]. ${NOTE}`,
  ],
  ['another rank', [A([16]), B([1, 16])], `${ID}input 'INPUT0' batch size does not match other inputs for 'add_sub'`],
  [
    'another batch',
    [A([2, 16]), B([1, 16])],
    `${ID}input 'INPUT0' batch size does not match other inputs for 'add_sub'`,
  ],
  ['too many rows', [A([9, 16]), B([9, 16])], `${ID}inference request batch-size must be <= 8 for 'add_sub'`],
  [
    'no rows',
    [A([0, 16]), B([0, 16])],
    `${ID}input byte size mismatch for input 'INPUT1' for model 'add_sub'. Expected 64, got 0`,
  ],
  [
    'no dimensions',
    [A([1, 16]), B([])],
    `${ID}input 'INPUT1' has no shape but model requires batch dimension for 'add_sub'`,
  ],
])('refuses %s', (_name, inputs, message) => {
  expect(() => check(ADD_SUB, inputs)).toThrow(expect.objectContaining({ code: 'INVALID_ARG', message }))
})

it('refuses an unknown output before anything else', () => {
  expect(() => check(ADD_SUB, [], ['OUTPUT9'])).toThrow("unexpected inference output 'OUTPUT9' for model 'add_sub'")
})

it('ends the message about a shape with a blank for models that do not batch', () => {
  const message = `${ID}unexpected shape for input 'INPUT0' for model 'add_sub'. Expected [16], got [5]. `
  const config = `max_batch_size: 0 ${tensors('input', 'INPUT0')} ${tensors('output', 'OUTPUT0')}`
  expect(() => check(config, [A([5])])).toThrow(expect.objectContaining({ message }))
})

it('lets optional inputs be absent, required ones not', () => {
  const config = `input { name: "INPUT0" data_type: TYPE_FP32 dims: [ 16 ] }
    input { name: "INPUT1" data_type: TYPE_FP32 dims: [ 16 ] optional: true } ${tensors('output', 'OUTPUT0')}`
  expect(check(config, [A([16])])).toMatchObject({ rows: 1 })
  const start = `${ID}expected number of inputs between 1 and 2 but got `
  expect(() => check(config, [])).toThrow(`${start}0 inputs for model 'add_sub'.`)
  expect(() => check(config, [B([16])])).toThrow(`${start}1 inputs for model 'add_sub'.`)
})

const strings = (data: number[]): Tensor => ({ name: 'S', datatype: 'BYTES', shape: [2], data: new Uint8Array(data) })
it.each<[string, number[], string]>([
  [
    'a cut length',
    [1, 0, 0, 0, 65, 2, 0],
    `${ID}incomplete string length indicator for inference input 'S' for model 'add_sub', expecting 4 bytes but only 2 bytes available. Please make sure the string length indicator is in one buffer.`,
  ],
  [
    'too few',
    [2, 0, 0, 0, 65, 66],
    `${ID}expected 2 string elements for inference input 'S' for model 'add_sub', got 1`,
  ],
  [
    'too many',
    [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    `${ID}unexpected number of string elements 3 for inference input 'S' for model 'add_sub', expecting 2`,
  ],
])('refuses strings with %s', (_name, data, message) => {
  expect(() => check(STRINGS, [strings(data)])).toThrow(expect.objectContaining({ message }))
})

it('leaves a string that is longer than what is there to the one who would run it', () => {
  const { flaw } = check(STRINGS, [strings([0, 0, 0, 0, 9, 0, 0, 0, 97, 98])])
  const message =
    "incomplete string data for inference input 'S', expecting string of length 9 but only 2 bytes available"
  expect(flaw).toMatchObject({ code: 'INVALID_ARG', message })
})
