import type { LogLine } from '@conch/server/schemas'
import { expect, it } from 'vitest'
import { addLine, filterLines, printLines } from './lines.ts'

const OURS = { model: '', version: '' }
const line = (id: number, level: LogLine['level'], text: string): LogLine => ({
  id,
  at: id * 1000,
  level,
  text,
  ...OURS,
})
const lines = [line(1, 'info', 'loading iris'), line(2, 'error', 'iris failed'), line(3, 'verbose', 'tick')]

it('filters by level and text', () => {
  expect(filterLines(lines, 'all', '')).toBe(lines)
  expect(filterLines(lines, 'warning', '').map((each) => each.id)).toEqual([2])
  expect(filterLines(lines, 'all', 'IRIS').map((each) => each.id)).toEqual([1, 2])
})

it('takes a line once', () => {
  expect(addLine(lines, line(3, 'verbose', 'tick'))).toBe(lines)
  expect(addLine(lines, line(4, 'info', 'next'))).toHaveLength(4)
})

it('goes on after the server started anew and counts from one again', () => {
  expect(addLine(lines, { ...line(1, 'info', 'started'), at: 9000 })).toHaveLength(4)
})

it('prints lines for the clipboard', () => {
  expect(printLines(lines.slice(0, 1))).toBe('1970-01-01T00:00:01.000Z info loading iris')
})
