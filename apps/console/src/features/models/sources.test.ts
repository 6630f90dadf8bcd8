import { expect, it } from 'vitest'
import { listSources } from './sources.ts'

const file = (path: string) => ({ path, size: 1, modified: 0, sha256: null })

it('finds the versions that are written in Python, newest first', () => {
  const files = ['10/model.py', '2/model.py', '2/more/model.py', '3/model.onnx', 'model.py', 'config.pbtxt'].map(file)
  expect(listSources({ files })).toEqual(['10', '2'])
})
