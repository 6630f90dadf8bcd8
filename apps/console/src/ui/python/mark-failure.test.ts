import { expect, it } from 'vitest'
import { markFailure } from './mark-failure.ts'

const frame = (file: string, line: number) => ({ file, line, function: 'f', excerpt: null })
const code = 'import numpy\n\n    raise ValueError("é")\n'

it('marks the innermost line of the model itself', () => {
  const failure = { message: 'ValueError: x', frames: [frame('numpy/core.py', 7), frame('2/model.py', 3)] }
  const mark = markFailure(failure, code)
  expect(mark).toMatchObject({ severity: 'error', message: 'ValueError: x', line: 3, column: 5 })
  expect(code.slice(mark?.from, mark?.to)).toBe('raise ValueError("é")')
})

it('marks nothing in a text that it is not about', () => {
  expect(markFailure({ message: 'E', frames: [frame('numpy/core.py', 7)] }, code)).toBeNull()
  expect(markFailure({ message: 'E', frames: [frame('1/model.py', 99)] }, code)).toBeNull()
})
