import { expect, it } from 'vitest'
import { readText } from './repository.ts'

const ROW = /^\| (S\d+) \| (.*?) \| (.*?) \|$/gm
const ROWS = [...readText('docs/attacks.md').matchAll(ROW)].map(([, number = '', , tests = '']) => ({
  number,
  tests: [...tests.matchAll(/`([^`]+?)::([^`]+)`/g)].map(([, file = '', name = '']) => ({ file, name })),
  reason: tests.startsWith('`') ? '' : tests,
}))
/** First and last number of each part; gaps are numbers that were never given. */
const PARTS = [
  [1, 25],
  [45, 54],
  [56, 70],
  [72, 86],
  [88, 95],
  [97, 110],
] as const

it('has a row for every attack', () => {
  const wanted = PARTS.flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, i) => `S${String(first + i).padStart(2, '0')}`),
  )
  expect(ROWS.map(({ number }) => number)).toEqual(wanted)
})

it.each(ROWS)('$number names tests that exist, or says why there are none', ({ tests, reason }) => {
  expect(tests.length > 0 ? 'gap: tests exist' : reason).toMatch(/^gap: .{10,}/)
  for (const { file, name } of tests) {
    const source = readText(file)
    expect(source).toContain(file.endsWith('.py') ? `def ${name}(` : `'${name}'`)
  }
})
