import { expect, it } from 'vitest'
import { placeInside } from './read-pixels.ts'

it('crops, letterboxes or stretches', () => {
  const wide = { width: 200, height: 100 }
  const square = { width: 50, height: 50 }
  expect(placeInside(wide, square, 'cover')).toEqual({ x: -25, y: 0, w: 100, h: 50 })
  expect(placeInside(wide, square, 'contain')).toEqual({ x: 0, y: 12.5, w: 50, h: 25 })
  expect(placeInside(wide, square, 'fill')).toEqual({ x: 0, y: 0, w: 50, h: 50 })
})
