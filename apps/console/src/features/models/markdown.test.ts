import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseMarkdown, parseSpans } from './markdown.ts'

it('reads what model cards are made of', () => {
  const source =
    '# iris\n\nFlowers,\nthree kinds.\n\n- one\n- two\n  more\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n    curl x\n\n```\ncode\n```\n'
  expect(parseMarkdown(source)).toEqual([
    { kind: 'heading', level: 1, text: 'iris' },
    { kind: 'text', text: 'Flowers, three kinds.' },
    { kind: 'list', items: ['one', 'two more'] },
    { kind: 'table', head: ['a', 'b'], rows: [['1', '2']] },
    { kind: 'code', text: 'curl x' },
    { kind: 'code', text: 'code' },
  ])
})

it('keeps code and bold, and shows where links lead', () => {
  expect(parseSpans('a `b` **c** [d](https://e.org)')).toEqual([
    { kind: 'plain', text: 'a ' },
    { kind: 'code', text: 'b' },
    { kind: 'plain', text: ' ' },
    { kind: 'bold', text: 'c' },
    { kind: 'plain', text: ' d (https://e.org)' },
  ])
})

it('ends for any text', () => {
  const line = fc.oneof(fc.string(), fc.constantFrom('#', '# a', '```', '|', '| a |', '- x', '    code', '', ' \t'))
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      expect(Array.isArray(parseMarkdown(lines.join('\n')))).toBe(true)
    }),
  )
})
