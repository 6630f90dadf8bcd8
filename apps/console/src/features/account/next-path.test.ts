import { expect, it } from 'vitest'
import { readNextPath } from './next-path.ts'

it('goes back to where one came from', () => {
  expect(readNextPath('?next=%2Fmodels%2Firis%3Ftab%3Dfiles')).toBe('/models/iris?tab=files')
})

it.each([
  '',
  '?next=',
  '?next=%2F',
  '?next=https%3A%2F%2Fexample.org',
  '?next=%2F%2Fexample.org',
  '?next=%2F%5Cexample.org',
  '?next=javascript%3A1',
])('never leaves the console: %s', (search) => {
  expect(readNextPath(search)).toBe('/models')
})
