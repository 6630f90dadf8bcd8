import { expect, it } from 'vitest'
import { isNotLoaded } from './load-failure.ts'

it('tells a version that does not load from one that was not to be loaded', () => {
  const published = { model: 'm', version: '2', state: 'READY', reason: '' } as const
  expect(isNotLoaded(published)).toBe(false)
  expect(isNotLoaded({ ...published, failure: { message: '', frames: [] } })).toBe(true)
  expect(isNotLoaded({ ...published, state: 'UNAVAILABLE', reason: 'no' })).toBe(true)
  expect(isNotLoaded({ ...published, state: 'UNKNOWN' })).toBe(false)
})
