import { applyEdits, parsePbtxt } from '@conch/protocol'
import { expect, it } from 'vitest'
import { fieldAt } from './field-at.ts'
import { checkText, hasErrors, mergeProblems } from './local-check.ts'

it('finds a misspelt field with its place and a fix that works', () => {
  const text = 'name: "iris"\nmax_batchsize: 8\n'
  const [problem] = checkText(text, 'iris')
  expect(problem).toMatchObject({ severity: 'error', line: 2 })
  expect(text.slice(0, problem?.from)).toBe('name: "iris"\nmax_batchsize')
  expect(applyEdits(text, problem?.fix?.edits ?? [])).toContain('max_batch_size: 8')
})

it('checks the rules once the text can be read', () => {
  expect(hasErrors(checkText('name: "other"\nbackend: "onnxruntime"\n', 'iris'))).toBe(true)
  expect(hasErrors(checkText('name: "iris"\nbackend: "onnxruntime"\n', 'iris'))).toBe(false)
})

it('shows the same complaint once, errors first', () => {
  const [first] = checkText('max_batchsize: 8', '')
  if (first === undefined) throw new Error('expected a problem')
  const hint = { ...first, severity: 'hint' as const, message: 'a hint', line: 1 }
  expect(mergeProblems([hint, first], [first]).map((problem) => problem.severity)).toEqual(['error', 'hint'])
})

it('knows which field the pointer is at', () => {
  const text = 'dynamic_batching {\n  max_queue_delay_microseconds: 100\n}\ninput [ { dims: [ 4 ] } ]'
  const { tree } = parsePbtxt(text)
  expect(fieldAt(tree, text.indexOf('max_queue') + 3)?.path).toBe('dynamic_batching.max_queue_delay_microseconds')
  expect(fieldAt(tree, text.indexOf('dims') + 1)?.path).toBe('input.dims')
  expect(fieldAt(tree, text.indexOf('100') + 1)).toBeUndefined()
})
