import { ConchError } from '@conch/protocol'
import { afterEach, expect, it, vi } from 'vitest'
import type { BackendInstance } from '../backend/contract.ts'
import { Pool } from './pool.ts'
import { Readiness } from './readiness.ts'

afterEach(() => void vi.useRealTimers())

/** An instance whose process can be ended and started again. */
function makeSlot(name: string, change: Partial<BackendInstance> = {}) {
  const instance = {
    healthy: true,
    onHealth: undefined as ((healthy: boolean) => void) | undefined,
    execute: () => [],
    close: () => Promise.resolve(),
    ...change,
  }
  const turn = (healthy: boolean) => {
    instance.healthy = healthy
    instance.onHealth?.(healthy)
  }
  return { name, instance, turn }
}

it('hands out no instance that is down, and wakes the schedule when it is back', () => {
  const pool = new Pool()
  const woken = vi.fn<() => void>()
  const [a, b] = [makeSlot('a'), makeSlot('b')]
  pool.add(a)
  pool.add(b)
  pool.onFree = woken
  b.turn(false)
  expect(pool.take()).toBe(a)
  expect([pool.take(), pool.busy, pool.size]).toEqual([undefined, 2, 2])
  b.turn(true)
  expect(woken).toHaveBeenCalledTimes(1)
  expect(pool.take()).toBe(b)
})

it('keeps an instance that went down at work until it is healthy', () => {
  const pool = new Pool()
  const a = makeSlot('a')
  pool.add(a)
  pool.take()
  a.turn(false)
  pool.give(a)
  expect(pool.take()).toBeUndefined()
  a.turn(true)
  expect(pool.take()).toBe(a)
})

it('lets an instance that is down leave at once', async () => {
  const pool = new Pool()
  const a = makeSlot('a')
  pool.add(a)
  a.turn(false)
  await pool.remove(a)
  a.turn(true)
  expect([pool.take(), pool.size, pool.busy]).toEqual([undefined, 0, 0])
})

it('works with those that stay while another one is leaving', () => {
  const pool = new Pool()
  const [a, b] = [makeSlot('a'), makeSlot('b')]
  pool.add(a)
  pool.add(b)
  expect(pool.take()).toBe(b)
  void pool.remove(b)
  expect([pool.size, pool.busy]).toEqual([1, 0])
})

it('is ready when every instance is healthy and says so', async () => {
  const readiness = new Readiness()
  const plain = { name: 'p', instance: { execute: () => [], close: () => Promise.resolve() } }
  const asked = makeSlot('a', { checkReady: () => Promise.resolve() })
  await expect(readiness.check([plain, asked])).resolves.toBeUndefined()
  asked.turn(false)
  await expect(readiness.check([plain, asked])).rejects.toThrow("Stub process 'a' is not healthy.")
  const refuses = makeSlot('r', { checkReady: () => Promise.reject(new ConchError('UNAVAILABLE', 'not yet')) })
  await expect(readiness.check([plain, refuses])).rejects.toThrow('not yet')
})

it('asks once for everybody, and not for ever', async () => {
  vi.useFakeTimers()
  const readiness = new Readiness()
  const checkReady = vi.fn<() => Promise<void>>(() => new Promise<void>(() => undefined))
  const slot = makeSlot('s', { checkReady })
  const late = [readiness.check([slot]), readiness.check([slot])].map((check) =>
    expect(check).rejects.toThrow('Timed out waiting for user-defined is_ready() response'),
  )
  await vi.advanceTimersByTimeAsync(5_000)
  await Promise.all(late)
  expect(checkReady).toHaveBeenCalledTimes(1)
})
