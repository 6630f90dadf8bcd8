import { afterEach, expect, it } from 'vitest'
import { createEngine } from './engine.ts'
import { FIXTURE_MODELS, floats, testOptions, testRequest } from './testing.ts'
import type { Engine } from './contract.ts'

let engine: Engine | undefined
afterEach(() => engine?.stop())

it('tells where the time of a request went, by its id', async () => {
  engine = createEngine(testOptions([FIXTURE_MODELS], { startupModels: ['add_sub'] }))
  await engine.start()
  const request = testRequest('add_sub', [floats('INPUT0', [1, 16], 1), floats('INPUT1', [1, 16], 2)])
  request.id = 'mine'
  await engine.infer(request)
  const found = engine.requests.find('mine')
  expect(found).toMatchObject({ model: 'add_sub', version: '1', outcome: 'success', rows: 1, steps: [] })
  const { total = 0, queue = 0, input = 0, infer = 0, output = 0 } = found ?? {}
  expect(infer).toBeGreaterThan(0)
  expect(queue + input + infer + output).toBeLessThanOrEqual(total + 4)
  expect(engine.requests.slowest('add_sub')).toEqual([found])
})
