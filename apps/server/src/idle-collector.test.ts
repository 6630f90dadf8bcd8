import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { IdleCollector } from './idle-collector.ts'

const MB = 1024 * 1024

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

function open() {
  const state = { cpu: 0, heap: 20 * MB, resident: 100 * MB, garbage: 0, pieces: 0, done: [] as string[] }
  const collector = new IdleCollector({
    cpu: () => state.cpu,
    heap: () => state.heap,
    resident: () => state.resident + state.garbage + state.pieces,
    collect: () => {
      state.done.push('collect')
      state.garbage = 0
    },
    trim: () => {
      state.done.push('trim')
      state.pieces = 0
    },
  })
  return { state, collector }
}

it('collects once after a burst, when nothing happens any more', () => {
  const { state, collector } = open()
  Object.assign(state, { garbage: 500 * MB, pieces: 50 * MB, cpu: 2_000_000 })
  vi.advanceTimersByTime(2_000)
  expect(state.done).toEqual([])
  vi.advanceTimersByTime(2_000)
  expect(state.done).toEqual(['collect'])
  vi.advanceTimersByTime(60_000)
  expect(state.done).toEqual(['collect', 'trim'])
  collector.stop()
  expect(vi.getTimerCount()).toBe(0)
})

it('leaves alone what is in use, a little garbage and a large heap', () => {
  const { state } = open()
  state.resident += 300 * MB
  vi.advanceTimersByTime(60_000)
  expect(state.done).toEqual(['collect', 'trim'])
  state.garbage = 20 * MB
  vi.advanceTimersByTime(60_000)
  Object.assign(state, { heap: 65 * MB, garbage: 500 * MB })
  vi.advanceTimersByTime(60_000)
  expect(state.done).toEqual(['collect', 'trim'])
})

const touch = (size: number) => new Uint8Array(size).fill(1).length

it('frees buffers that nobody holds', () => {
  const memory = () => process.memoryUsage().arrayBuffers
  const before = memory()
  const collector = new IdleCollector()
  vi.spyOn(process, 'cpuUsage').mockReturnValue({ user: 0, system: 0 })
  expect(touch(200 * MB)).toBe(200 * MB)
  expect(memory() - before).toBeGreaterThan(190 * MB)
  vi.advanceTimersByTime(4_000)
  collector.stop()
  expect(memory() - before).toBeLessThan(100 * MB)
})
