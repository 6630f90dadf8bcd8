import { expect, it } from 'vitest'
import { isDecoupled, listOptional } from './model-facts.ts'

it('knows a decoupled model by its config', () => {
  expect(isDecoupled({ model_transaction_policy: { decoupled: true } })).toBe(true)
  expect(isDecoupled({ model_transaction_policy: { decoupled: false } })).toBe(false)
  expect([null, [], {}, 'x'].map(isDecoupled)).toEqual([false, false, false, false])
})

it('names the inputs that may be left out', () => {
  const input = [{ name: 'a', optional: true }, { name: 'b', optional: false }, { name: 'c' }, 'x']
  expect(listOptional({ input })).toEqual(['a'])
  expect(listOptional(null)).toEqual([])
})
