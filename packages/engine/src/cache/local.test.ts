import fc from 'fast-check'
import { expect, it } from 'vitest'
import { floats } from '../testing.ts'
import { createLocalCache, LocalCache } from './local.ts'

const answer = (value: number, elements = 4) => [floats('OUT', [elements], value)]

it.each([
  [{}, "Failed to initialize LocalCache: config didn't contain a valid 'size' field."],
  [{ size: 'many' }, 'Failed to initialize LocalCache: stoull'],
  [{ size: '10' }, 'Failed to initialize LocalCache: a size of 10 bytes is too small'],
])('%j is refused: %s', (settings, message) => {
  expect(() => createLocalCache(settings)).toThrow(message)
})

it('keeps copies, one block each', () => {
  const cache = new LocalCache(10_000)
  const memory = new Float32Array(100).fill(7)
  const outputs = [
    { name: 'A', datatype: 'FP32' as const, shape: [2], data: new Uint8Array(memory.buffer, 8, 8) },
    { name: 'B', datatype: 'FP32' as const, shape: [1], data: new Uint8Array(memory.buffer, 40, 4) },
  ]
  expect(cache.insert('1:a', outputs)).toBe('kept')
  memory.buffer.transfer(0)
  const kept = cache.lookup('1:a')
  expect(kept?.map(({ data }) => [...new Float32Array(data.slice().buffer)])).toEqual([[7, 7], [7]])
  expect(kept?.map(({ data }) => data.buffer.byteLength)).toEqual([12, 12])
})

it('says what is too large and evicts nothing for it', () => {
  const cache = createLocalCache({ size: '100000' })
  cache.insert('1:a', answer(1))
  const large = [floats('OUTPUT0', [1, 40_000])]
  expect(() => cache.insert('1:b', large)).toThrow(
    'Requested byte_size: 160059 is greater than total cache size: 100000',
  )
  expect(cache.numbers).toMatchObject({ entries: 1, evictions: 0 })
})

it('counts', () => {
  const cache = new LocalCache(1_300)
  expect(cache.lookup('1:a')).toBeUndefined()
  expect(cache.insert('1:a', answer(1))).toBe('kept')
  expect(cache.insert('1:a', answer(1))).toBe('known')
  expect(cache.lookup('1:a')).toEqual(answer(1))
  cache.insert('1:b', answer(2))
  expect(cache.numbers).toMatchObject({ entries: 1, lookups: 2, hits: 1, misses: 1, evictions: 1 })
  expect(cache.numbers.utilisation).toBeGreaterThan(0.5)
  expect(cache.numbers.insertUs).toBeGreaterThanOrEqual(0)
})

it('forgets a scope and nothing else', () => {
  const cache = new LocalCache(100_000)
  for (const key of ['1:a', '1:b', '11:a', '2:1:a']) cache.insert(key, answer(1))
  cache.forget('1')
  expect(['1:a', '1:b', '11:a', '2:1:a'].map((key) => cache.lookup(key) !== undefined)).toEqual([
    false,
    false,
    true,
    true,
  ])
})

it('behaves as a list with the most recent first, within its budget', async () => {
  const step = fc.record({
    key: fc.integer({ min: 0, max: 9 }),
    insert: fc.boolean(),
    elements: fc.integer({ min: 0, max: 60 }),
  })
  const bytesOf = (elements: number) => 4 + 8 + 4 + 3 + 4 + 4 + 4 + 8 + 8 + 4 * elements + 600
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const cache = new LocalCache(3_000)
      let model: { key: string; elements: number }[] = []
      for (const { key, insert, elements } of steps) {
        const name = `1:${key}`
        const found = model.find((one) => one.key === name)
        if (found !== undefined) model = [found, ...model.filter((one) => one !== found)]
        const got = insert ? cache.insert(name, answer(key, elements)) : cache.lookup(name)
        const wanted = found === undefined ? 'kept' : 'known'
        expect(got).toEqual(insert ? wanted : found && answer(key, found.elements))
        if (insert && found === undefined) model.unshift({ key: name, elements })
        while (model.reduce((sum, one) => sum + bytesOf(one.elements), 0) > 3_000) model.pop()
        expect(cache.numbers.entries).toBe(model.length)
        expect(cache.numbers.utilisation).toBeLessThanOrEqual(1)
      }
      await cache.close()
      expect(cache.numbers).toMatchObject({ entries: 0, utilisation: 0 })
    }),
  )
})
