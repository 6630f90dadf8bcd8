import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { IdleCollector } from './idle-collector.ts'

const MB = 1024 * 1024

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function open() {
  const state = { cpu: 0, used: 20 * MB, external: 0, alive: 0, collections: 0 }
  const collector = new IdleCollector({
    cpu: () => state.cpu,
    heap: () => ({ used: state.used, external: state.external }),
    collect: () => {
      state.collections += 1
      state.external = state.alive
    },
  })
  return { state, collector }
}

it('collects once after a burst, when nothing happens any more', () => {
  const { state, collector } = open()
  state.external = 500 * MB
  state.cpu += 2_000_000
  vi.advanceTimersByTime(2_000)
  expect(state.collections).toBe(0)
  vi.advanceTimersByTime(2_000)
  expect(state.collections).toBe(1)
  vi.advanceTimersByTime(60_000)
  expect(state.collections).toBe(1)
  collector.stop()
  expect(vi.getTimerCount()).toBe(0)
})

it('leaves alone what is alive, a little garbage and a large heap', () => {
  const { state } = open()
  Object.assign(state, { external: 300 * MB, alive: 290 * MB })
  vi.advanceTimersByTime(60_000)
  expect(state.collections).toBe(1)
  state.external = 310 * MB
  vi.advanceTimersByTime(60_000)
  expect(state.collections).toBe(1)
  Object.assign(state, { used: 65 * MB, external: 500 * MB })
  vi.advanceTimersByTime(60_000)
  expect(state.collections).toBe(1)
})

it('frees buffers that nobody holds', () => {
  const memory = () => process.memoryUsage().arrayBuffers
  const before = memory()
  const collector = new IdleCollector()
  vi.spyOn(process, 'cpuUsage').mockReturnValue({ user: 0, system: 0 })
  expect(new ArrayBuffer(200 * MB).byteLength).toBe(200 * MB)
  expect(memory() - before).toBeGreaterThan(190 * MB)
  vi.advanceTimersByTime(4_000)
  collector.stop()
  vi.restoreAllMocks()
  expect(memory() - before).toBeLessThan(100 * MB)
})
