import { expect, it, vi } from 'vitest'
import { newTimings } from '../request.ts'
import type { Timings } from '../request.ts'
import type { EndedRequest } from './contract.ts'
import { CAPACITY, StageRing } from './stage-ring.ts'

const NAME = { model: 'm', version: '1' }

function ended(id: string, stamps: Partial<Timings> = {}, more: Partial<EndedRequest> = {}): EndedRequest {
  const all = {
    start: 10,
    queued: 11,
    computeStart: 13,
    computeInputEnd: 14,
    computeOutputStart: 18,
    computeEnd: 20,
    end: 21,
  }
  return { timings: { ...newTimings(), ...all, ...stamps }, rows: 2, firstResponse: 0, request: { id }, ...more }
}

function makeRing() {
  const ring = new StageRing()
  const member = ring.join(NAME)
  const add = (one: EndedRequest, name = NAME) => ring.add({ ...member, name }, one, 'success')
  return { ring, member, add }
}

it('tells the stages of a request by its id, in microseconds', () => {
  const { ring, add } = makeRing()
  add(ended('a'))
  expect(ring.find('a')).toEqual({
    id: 'a',
    ...NAME,
    outcome: 'success',
    rows: 2,
    at: Math.round(performance.timeOrigin + 10),
    total: 11_000,
    queue: 2_000,
    input: 1_000,
    infer: 4_000,
    output: 2_000,
    cache: undefined,
    steps: [],
  })
  expect(ring.find('b')).toBeUndefined()
})

it('counts all of its time as waiting for a request that never ran', () => {
  const { ring, add } = makeRing()
  add(ended('late', { computeStart: 0, computeInputEnd: 0, computeOutputStart: 0, computeEnd: 0, end: 61 }))
  expect(ring.find('late')).toMatchObject({ queue: 50_000, infer: 0, total: 51_000 })
})

it('keeps the newest ones only, newest first', () => {
  const { ring, add } = makeRing()
  for (let i = 0; i < CAPACITY + 5; i++) add(ended(String(i)))
  expect(ring.find('4')).toBeUndefined()
  expect(ring.find('5')).toBeDefined()
  expect(ring.recent(3).map(({ id }) => id)).toEqual([CAPACITY + 4, CAPACITY + 3, CAPACITY + 2].map(String))
  expect(ring.recent(9_999)).toHaveLength(CAPACITY)
})

it('puts what was made for a request below it, nested, in the order in which it began', () => {
  const { ring, add } = makeRing()
  const outer = { ...ended('r'), serial: 0 }
  const middle = { ...ended('r', { start: 12 }), serial: 0, outer }
  add(ended('r', { start: 14 }, { outer: middle }), { model: 'deep', version: '3' })
  add(middle, { model: 'late', version: '1' })
  add(ended('r', { start: 11 }, { outer }), { model: 'early', version: '1' })
  add(outer)
  const found = ring.find('r')
  expect(found?.model).toBe('m')
  expect(found?.steps.map(({ model }) => model)).toEqual(['early', 'late'])
  expect(found?.steps[1]?.steps.map(({ model }) => model)).toEqual(['deep'])
  expect(ring.recent(10).map(({ model }) => model)).toEqual(['m'])
  expect(ring.recent(10, 'deep')).toHaveLength(1)
})

it('keeps only the beginning of a long id', () => {
  const { ring, add } = makeRing()
  add(ended('x'.repeat(1_000_000)))
  expect(ring.find('x'.repeat(1_000_000))?.id).toHaveLength(256)
})

it('gathers the ten slowest of the last ten minutes', () => {
  const { ring, add } = makeRing()
  const now = performance.now()
  const lasting = (id: string, ms: number, end = now) => ended(id, { start: end - ms, end })
  for (let i = 1; i <= 30; i++) add(lasting(String(i), i % 2 === 0 ? i : 100 - i))
  expect(ring.slowest('m').map(({ id }) => id)).toEqual(['1', '3', '5', '7', '9', '11', '13', '15', '17', '19'])
  add(lasting('quick', 1))
  expect(ring.slowest('m').some(({ id }) => id === 'quick')).toBe(false)
  vi.spyOn(performance, 'now').mockReturnValue(now + 601_000)
  try {
    add(lasting('new', 1, now + 601_000))
    expect(ring.slowest('m').map(({ id }) => id)).toEqual(['new'])
  } finally {
    vi.restoreAllMocks()
  }
  expect(ring.slowest('nobody')).toEqual([])
})

it('forgets the slowest of a model that has no version any more', () => {
  const { ring, member, add } = makeRing()
  add(ended('a', { end: performance.now() }))
  const other = ring.join(NAME)
  ring.leave(member)
  expect(ring.slowest('m')).toHaveLength(1)
  ring.leave(other)
  expect(ring.slowest('m')).toEqual([])
})
