import { expect, it } from 'vitest'
import { shrinkDrawing } from './drawing.ts'

function draw(side: number, marks: (x: number, y: number) => boolean) {
  const ink = new Float32Array(side * side)
  for (let y = 0; y < side; y += 1) for (let x = 0; x < side; x += 1) ink[y * side + x] = marks(x, y) ? 1 : 0
  return { side, ink }
}

it('leaves an empty pad empty', () => {
  expect(
    shrinkDrawing(
      draw(40, () => false),
      { height: 8, width: 8 },
    ).every((value) => value === 0),
  ).toBe(true)
})

it('centres a small stroke in the corner and keeps its proportions', () => {
  const one = shrinkDrawing(
    draw(80, (x, y) => x >= 2 && x < 6 && y >= 2 && y < 22),
    { height: 8, width: 8 },
  )
  const column = (index: number) =>
    Array.from({ length: 8 }, (_, row) => one[row * 8 + index] ?? 0).reduce((sum, value) => sum + value, 0)
  expect(column(3) + column(4)).toBeGreaterThan(4)
  expect(column(0) + column(7)).toBe(0)
})

it('stays between paper and ink', () => {
  const all = shrinkDrawing(
    draw(30, (x, y) => (x + y) % 3 === 0),
    { height: 8, width: 8 },
  )
  expect(Math.max(...all)).toBeLessThanOrEqual(1)
  expect(Math.min(...all)).toBeGreaterThanOrEqual(0)
})
