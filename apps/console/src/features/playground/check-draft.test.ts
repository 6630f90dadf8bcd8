import type { Datatype } from '@conch/protocol'
import { expect, it } from 'vitest'
import { checkInputs, fitShape } from './check-draft.ts'

const row = (shape: number[], datatype = 'FP32') => ({ name: 'x', datatype, shape })
const input = (shape: number[], values: string[], datatype: Datatype = 'FP32') => ({
  name: 'x',
  datatype,
  shape,
  values,
  source: '',
  parameters: '',
})
const zeros = (count: number) => Array.from({ length: count }, () => '0')

it('finds nothing wrong with a request that fits', () => {
  expect(checkInputs([input([2, 4], zeros(8))], [row([-1, 4])])).toEqual([])
})

it('explains a missing batch dimension and offers it', () => {
  const [problem] = checkInputs([input([3, 2, 2], zeros(12))], [row([-1, 3, 2, 2])])
  expect(problem?.message).toBe(
    'You send [3, 2, 2], the model expects [N, 3, 2, 2]. The batch dimension in front is missing.',
  )
  expect(problem?.fix?.shape).toEqual([1, 3, 2, 2])
})

it('offers the shape that fits the number of values', () => {
  const [problem] = checkInputs([input([1, 4], zeros(12))], [row([-1, 4])])
  expect(problem?.fix?.shape).toEqual([3, 4])
  expect(fitShape([-1, 4], 13)).toBeNull()
  expect(fitShape([2, 2], 4)).toEqual([2, 2])
  expect(fitShape([-1, -1, 3], 6)).toEqual([2, 1, 3])
})

it.each([
  ['UINT8', '256', 'outside'],
  ['UINT8', '-1', 'outside'],
  ['INT32', '1.5', 'whole'],
  ['INT64', '9223372036854775808', 'outside'],
  ['FP32', 'abc', 'not a number'],
  ['BOOL', 'yes', 'neither'],
] as const)('refuses %s %s', (datatype, value, words) => {
  const [problem] = checkInputs([input([1], [value], datatype)], [row([1], datatype)])
  expect(problem?.message).toContain(words)
})

it('names inputs that are missing or of another type', () => {
  expect(checkInputs([], [row([1])])[0]?.message).toContain('missing')
  expect(checkInputs([input([1], ['1'], 'INT64')], [row([1])])[0]?.message).toContain('expects FP32')
})
