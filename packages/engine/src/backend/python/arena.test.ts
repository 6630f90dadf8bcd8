import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Arena } from './arena.ts'

it('gives out blocks that never overlap, and is whole again when all are back', () => {
  const step = fc.record({ size: fc.integer({ min: 0, max: 5_000 }), free: fc.nat(), frees: fc.boolean() })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const arena = new Arena(64 * 64)
      const taken = new Map<number, number>()
      for (const { size, free, frees } of steps) {
        if (frees && taken.size > 0) {
          const offset = [...taken.keys()][free % taken.size] ?? 0
          taken.delete(offset)
          if (!arena.free(offset) || arena.free(offset)) throw new Error(`a block at ${offset} is freed once`)
          continue
        }
        let offset = arena.allocate(size)
        if (offset === undefined) {
          arena.grow(arena.sizeFor(size))
          offset = arena.allocate(size)
        }
        if (offset === undefined) throw new Error('no room after it has grown')
        if (offset % 64 !== 0 || offset + size > arena.size) throw new Error(`a block at ${offset}`)
        for (const [other, length] of taken) {
          const isApart = offset + Math.max(size, 1) <= other || other + Math.max(length, 1) <= offset
          if (!isApart) throw new Error(`blocks at ${offset} and ${other} overlap`)
        }
        taken.set(offset, size)
      }
      for (const offset of taken.keys()) arena.free(offset)
      expect(arena.isEmpty).toBe(true)
      expect(arena.allocate(arena.size)).toBe(0)
    }),
  )
})

it('grows by what is missing at its end', () => {
  const arena = new Arena(1_024)
  expect(arena.allocate(900)).toBe(0)
  expect(arena.allocate(200)).toBeUndefined()
  expect(arena.sizeFor(200)).toBe(960 + 256)
})
