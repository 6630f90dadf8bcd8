import { expect, it } from 'vitest'
import { listFiles, readText } from './repository.ts'

const examples = listFiles('examples/backends/*/backend.ts')

it.each(examples)('%s is short enough to be read before lunch', (file) => {
  expect(readText(file).trimEnd().split('\n').length).toBeLessThan(60)
})

it('leads to the example, which is the one that the tests run', () => {
  expect(examples).toContain('examples/backends/scale/backend.ts')
  expect(readText('docs/custom-backends.md')).toContain('(../examples/backends/scale/backend.ts)')
  expect(readText('packages/engine/src/backend/module/module.test.ts')).toContain("'scale'")
})

it('names every setting and every kind of answer', () => {
  const text = readText('docs/custom-backends.md')
  for (const word of ['execution_timeout_ms', '"shared"', '"own"', "'responded'", "'again'"])
    expect(text).toContain(word)
  const types = readText('packages/engine/src/index.ts')
  expect(types).toContain('CustomBackend')
})
