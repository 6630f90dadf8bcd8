import { expect, it } from 'vitest'
import { bfloatToNumber, halfToNumber, numberToBfloat, numberToHalf } from './half.ts'

const patterns = Array.from({ length: 65536 }, (_, bits) => bits)

it('turns every half into a number and back', () => {
  // Of the many NaN there is one that comes back.
  const expected = patterns.map((half) => (Number.isNaN(halfToNumber(half)) ? 0x7e00 : half))
  expect(patterns.map((half) => numberToHalf(halfToNumber(half)))).toEqual(expected)
})

it.each([
  [1, 0x3c00],
  [-2, 0xc000],
  [65504, 0x7bff],
  [65519.99, 0x7bff],
  [65520, 0x7c00],
  [2 ** -24, 1],
  [2 ** -25, 0],
  [3 * 2 ** -26, 1],
  [-0, 0x8000],
  // Halfway cases go to the even neighbour.
  [1 + 2 ** -11, 0x3c00],
  [1 + 3 * 2 ** -11, 0x3c02],
  [2 - 2 ** -12, 0x4000],
])('rounds %d to the nearest half', (value, half) => {
  expect(numberToHalf(value)).toBe(half)
})

it('turns every BF16 into a number and back', () => {
  const numbers = patterns.filter((bits) => !Number.isNaN(bfloatToNumber(bits)))
  expect(numbers.map((bits) => numberToBfloat(bfloatToNumber(bits)))).toEqual(numbers)
  const nans = patterns.filter((bits) => Number.isNaN(bfloatToNumber(bits)))
  expect(nans.every((bits) => Number.isNaN(bfloatToNumber(numberToBfloat(bfloatToNumber(bits)))))).toBe(true)
})

it('rounds halfway to the even BF16', () => {
  expect([1 + 2 ** -8, 1 + 3 * 2 ** -8].map(numberToBfloat)).toEqual([0x3f80, 0x3f82])
})
