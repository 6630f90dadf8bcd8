import fc from 'fast-check'
import { expect, it } from 'vitest'
import { fillValues, printFloat, printNumbers } from './fill.ts'

it('fills by datatype', () => {
  expect(fillValues('zeros', { datatype: 'FP32', count: 2 })).toEqual(['0', '0'])
  expect(fillValues('range', { datatype: 'INT64', count: 3 })).toEqual(['0', '1', '2'])
  expect(fillValues('random', { datatype: 'FP32', count: 1 }, () => 0.25)).toEqual(['0.25'])
  expect(fillValues('random', { datatype: 'INT32', count: 1 }, () => 0.99)).toEqual(['9'])
  expect(fillValues('range', { datatype: 'BOOL', count: 2 })).toEqual(['false', 'true'])
  expect(fillValues('random', { datatype: 'BYTES', count: 1 })).toEqual(['text 1'])
})

it('prints 32-bit floats short and exactly', () => {
  expect(printFloat(Math.fround(0.1))).toBe('0.1')
  fc.assert(
    fc.property(fc.float({ noNaN: true, noDefaultInfinity: true }), (value) => {
      expect(Math.fround(Number(printFloat(value)))).toBe(value === 0 ? 0 : value)
    }),
  )
})

it('keeps whole numbers inside their range', () => {
  expect(printNumbers([-5, 1.6, 300], 'UINT8')).toEqual(['0', '2', '255'])
  expect(printNumbers([-200, 200], 'INT8')).toEqual(['-128', '127'])
  expect(printNumbers([0.2, 0.9], 'BOOL')).toEqual(['false', 'true'])
})
