import { expect, it } from 'vitest'
import { BoundSequences } from './sequences.ts'

const bound = (version: string, lastAt = 0) => ({ version, mirrored: false, lastAt })

it('remembers a sequence until it ends, numbers and texts apart', () => {
  const sequences = new BoundSequences()
  sequences.bind(7n, bound('1'))
  sequences.bind('7', bound('2'))
  expect([sequences.find(7n, 1)?.version, sequences.find('7', 1)?.version]).toEqual(['1', '2'])
  sequences.end(7n)
  expect([sequences.find(7n, 1), sequences.find('7', 1)?.version, sequences.size]).toEqual([undefined, '2', 1])
})

it('forgets what was silent for ten minutes, and only that', () => {
  const sequences = new BoundSequences()
  sequences.bind('old', bound('1', 0))
  sequences.bind('kept', bound('1', 0))
  expect(sequences.find('kept', 500_000)?.version).toBe('1')
  sequences.bind('new', bound('2', 700_000))
  expect([sequences.size, sequences.find('kept', 700_000)?.version]).toEqual([2, '1'])
  expect(sequences.find('new', 1_400_000)).toBeUndefined()
})

it('holds a bounded number, the liveliest', () => {
  const sequences = new BoundSequences()
  for (let id = 1n; id <= 100_500n; id++) {
    sequences.bind(id, bound('1', Number(id) / 1_000))
    sequences.find(1n, Number(id) / 1_000)
  }
  expect(sequences.size).toBe(100_000)
  expect([sequences.find(1n, 101)?.version, sequences.find(2n, 101)]).toEqual(['1', undefined])
})

it('copies no more of a sequence that missed a copy', () => {
  const sequences = new BoundSequences()
  sequences.bind(1n, { version: '1', mirrored: true, lastAt: 0 })
  expect(sequences.find(1n, 1)?.mirrored).toBe(true)
  sequences.forgo(1n)
  sequences.forgo(2n)
  expect(sequences.find(1n, 1)?.mirrored).toBe(false)
})
