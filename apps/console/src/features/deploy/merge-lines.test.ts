import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { mergeLines } from './merge-lines.ts'

const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd', '')).map((list) => list.join('\n'))

it('keeps mine when they changed nothing, and takes theirs when I did not', () => {
  fc.assert(
    fc.property(lines, lines, (base, changed) => {
      expect(mergeLines(base, changed, base)).toEqual({ text: changed, conflicts: 0 })
      expect(mergeLines(base, base, changed)).toEqual({ text: changed, conflicts: 0 })
      expect(mergeLines(base, changed, changed)).toEqual({ text: changed, conflicts: 0 })
    }),
  )
})

it('puts changes at different places together', () => {
  expect(mergeLines('a\nb\nc\nd', 'a\nb\nC\nd\ne', 'A\nb\nc\nd')).toEqual({ text: 'A\nb\nC\nd\ne', conflicts: 0 })
})

it('keeps mine where both changed a line, and says what they have', () => {
  const merged = mergeLines('x\n    a = 1\ny', 'x\n    a = 2\ny', 'x\n    a = 3\n    b = 4\ny')
  expect(merged).toEqual({
    text: 'x\n    a = 2\n    # The new signature has here:\n    #   a = 3\n    #   b = 4\ny',
    conflicts: 1,
  })
})

it('never loses a line of mine', () => {
  fc.assert(
    fc.property(lines, lines, lines, (base, mine, theirs) => {
      const own = mine.split('\n').map((line) => `mine ${line}`)
      const { text } = mergeLines(base, [base, ...own].join('\n'), theirs)
      for (const line of own) expect(text.split('\n')).toContain(line)
    }),
  )
})
