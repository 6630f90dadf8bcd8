import type { ConfigProblem, Inspection } from '@conch/server/schemas'
import { expect, it } from 'vitest'
import { listProblems } from './list-problems.ts'

const inspection = (rest: Partial<Inspection>): Inspection => ({
  id: '',
  kind: 'onnx',
  signature: null,
  suggestedName: 'm',
  files: [],
  proposedConfig: '',
  problems: [],
  warnings: [],
  ...rest,
})
const problem = (line: number, message: string): ConfigProblem => ({
  severity: 'error',
  message,
  line,
  column: 1,
  from: 0,
  to: 0,
  path: '',
  expected: null,
  fix: null,
})

it('never calls an ONNX file that cannot be read fit to be served', () => {
  const [first] = listProblems(inspection({ warnings: ['1/model.onnx: not a valid ONNX file'] }), [])
  expect(first).toMatchObject({ severity: 'error', message: '1/model.onnx: not a valid ONNX file' })
})

it('leaves other warnings to a person', () => {
  const folder = inspection({ kind: 'folder', warnings: ['1/model.py runs code when it is loaded'] })
  expect(listProblems(folder, []).map((each) => each.severity)).toEqual(['warning'])
})

it('keeps problems of the files and follows those of the text', () => {
  const upload = inspection({ problems: [problem(0, 'labels.txt is missing'), problem(3, 'an old mistake')] })
  expect(listProblems(upload, [problem(2, 'a new mistake')]).map((each) => each.message)).toEqual([
    'labels.txt is missing',
    'a new mistake',
  ])
})
