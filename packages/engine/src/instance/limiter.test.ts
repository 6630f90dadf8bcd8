import fc from 'fast-check'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { RatedSpec, ResourceLimit, Slot } from './contract.ts'
import { RateLimiter } from './limiter.ts'
import { Pool } from './pool.ts'

beforeEach(() => void vi.useFakeTimers({ now: 0 }))
afterEach(() => void vi.useRealTimers())

interface Resource {
  readonly name: string
  readonly count: number
  readonly global: boolean
}
const spec = (resources: readonly Resource[], priority = 1, device?: number): RatedSpec => ({
  name: 'i',
  kind: device === undefined ? 'KIND_CPU' : 'KIND_GPU',
  deviceId: device ?? 0,
  profiles: [],
  rate: { resources: [...resources], priority },
})
const of = (name: string, count: number, global = false): Resource => ({ name, count, global })
const limit = (name: string, count: number, device?: number): ResourceLimit => ({ name, count, device })

/** A model: instances of one pool, jobs that wait for any of them or for one. */
class Model {
  readonly pool = new Pool()
  readonly slots: Slot[] = []
  readonly jobs: { readonly ms: number; readonly exact: number | undefined; readonly id: number }[] = []
  #pumping = false
  readonly #onStart: (model: Model, index: number, id: number) => void
  readonly #onEnd: (model: Model, index: number) => void

  constructor(limiter: RateLimiter, specs: readonly RatedSpec[], on: Pick<World, 'started' | 'ended'>) {
    this.#onStart = on.started
    this.#onEnd = on.ended
    this.pool.gate = limiter.createGate(() => this.pool.onFree())
    this.pool.onFree = () => this.#pump()
    this.pool.gate.check(specs)
    for (const [index, one] of specs.entries()) {
      const slot = { name: `i_${index}`, instance: { execute: () => [], close: () => Promise.resolve() } }
      this.slots.push(slot)
      this.pool.gate.register(slot, one)
      this.pool.add(slot)
    }
  }

  ask(id: number, ms: number, exact?: number): void {
    this.jobs.push({ ms, exact, id })
    this.#pump()
  }

  #pump(): void {
    if (this.#pumping) return
    this.#pumping = true
    // As the schedules do: who waits for the same instance comes in order.
    const blocked = new Set<number | undefined>()
    for (let i = 0; i < this.jobs.length;) {
      const exact = this.jobs[i]?.exact
      if (!blocked.has(exact) && this.#runs(i)) continue
      blocked.add(exact)
      i++
    }
    this.#pumping = false
  }

  #runs(at: number): boolean {
    const job = this.jobs[at]
    const slot = this.pool.take(job?.exact === undefined ? undefined : this.slots[job.exact])
    if (job === undefined || slot === undefined) return false
    this.jobs.splice(at, 1)
    const index = this.slots.indexOf(slot)
    this.#onStart(this, index, job.id)
    const end = () => {
      this.#onEnd(this, index)
      this.pool.give(slot)
    }
    // 0: answered at once, within the loop.
    if (job.ms === 0) end()
    else setTimeout(end, job.ms)
    return true
  }
}

interface World {
  readonly started: (model: Model, index: number, id: number) => void
  readonly ended: (model: Model, index: number) => void
}

/** Models by their specs, and who began in which order. */
function setUp(models: readonly (readonly RatedSpec[])[], limits: readonly ResourceLimit[] = []) {
  const limiter = new RateLimiter(limits)
  const order: number[] = []
  const running = new Set<RatedSpec>()
  const all: Model[] = []
  const find = (model: Model, index: number) => models[all.indexOf(model)]?.[index] as RatedSpec
  const world: World = {
    started: (model, index) => {
      order.push(all.indexOf(model))
      running.add(find(model, index))
    },
    ended: (model, index) => void running.delete(find(model, index)),
  }
  for (const specs of models) all.push(new Model(limiter, specs, world))
  return { limiter, all, order, running }
}

it('gives turns by executions and priority, as measured on the original', async () => {
  const { all, order } = setUp([[spec([of('R', 1)], 1)], [spec([of('R', 1)], 2)]], [limit('R', 1)])
  for (let i = 0; i < 6; i++) all[0]?.ask(i, 10)
  for (let i = 0; i < 6; i++) all[1]?.ask(i, 10)
  await vi.advanceTimersByTimeAsync(200)
  expect(order.map((model) => 'ab'[model]).join('')).toBe('aabaabaabbbb')
})

it('lets run together what fits, and takes the hungriest for the limit where none is given', async () => {
  const { all, running } = setUp([[spec([of('R', 2)])], [spec([of('R', 1)])], [spec([of('R', 1)])]])
  for (const model of all) model.ask(0, 10)
  expect(running.size).toBe(1)
  await vi.advanceTimersByTimeAsync(10)
  expect(running.size).toBe(2)
})

it('keeps devices apart, and global resources together', () => {
  const one = setUp([[spec([of('R', 1)], 1, 0)], [spec([of('R', 1)], 1, 1)]], [limit('R', 1)])
  for (const model of one.all) model.ask(0, 10)
  expect(one.running.size).toBe(2)
  const two = setUp([[spec([of('R', 1, true)], 1, 0)], [spec([of('R', 1, true)], 1, 1)]], [limit('R', 1)])
  for (const model of two.all) model.ask(0, 10)
  expect(two.running.size).toBe(1)
})

it('does not let a newcomer or an idle model make up for lost turns', async () => {
  const { all, order } = setUp([[spec([of('R', 1)])], [spec([of('R', 1)])]], [limit('R', 1)])
  for (let i = 0; i < 60; i++) all[0]?.ask(i, 1)
  await vi.advanceTimersByTimeAsync(30)
  for (let i = 0; i < 10; i++) all[1]?.ask(i, 1)
  const before = order.length
  await vi.advanceTimersByTimeAsync(100)
  const turns = order.slice(before, before + 20).map((model) => 'ab'[model])
  expect(turns.filter((turn) => turn === 'b')).toHaveLength(10)
})

it('does not wait for one that has given up', async () => {
  const { all, order } = setUp([[spec([of('R', 2)])], [spec([of('R', 1)])], [spec([of('R', 1)])]], [limit('R', 2)])
  all[1]?.ask(0, 10)
  all[0]?.ask(1, 10)
  all[0]?.jobs.splice(0)
  all[2]?.ask(2, 10)
  await vi.advanceTimersByTimeAsync(10)
  expect(order).toEqual([1, 2])
})

it.each<[string, readonly RatedSpec[], readonly ResourceLimit[]]>([
  [
    'Resource "R" is present as both global and device-specific resource in the model configuration.',
    [spec([of('R', 1)]), spec([of('R', 1, true)])],
    [],
  ],
  [
    'Resource count for "R" is limited to 2 which will prevent scheduling of one or more model instances, the minimum required count is 4',
    [spec([of('R', 3)]), spec([of('R', 4)])],
    [limit('R', 2)],
  ],
  ['Resource count for "R" is limited to 0', [spec([of('R', 1)])], [limit('R', 10, 0)]],
])('refuses: %s', (message, specs, limits) => {
  expect(() => setUp([specs], limits)).toThrow(message)
  const { limiter } = setUp([], limits)
  expect(() => limiter.check(specs)).toThrow(message)
})

it('frees the place of a model that is unloaded', async () => {
  const { all, running } = setUp([[spec([of('R', 4)])], [spec([of('R', 1)]), spec([of('R', 1)])]])
  const [big, small] = all
  big?.ask(0, 10)
  small?.ask(1, 10)
  small?.ask(2, 10)
  expect(running.size).toBe(1)
  await vi.advanceTimersByTimeAsync(10)
  const slot = big?.slots[0]
  if (slot !== undefined) {
    await big?.pool.remove(slot)
    big?.pool.gate?.unregister(slot)
  }
  await vi.advanceTimersByTimeAsync(20)
  expect(small?.jobs).toEqual([])
})

const resource = fc.record({ name: fc.constantFrom('R', 'S', 'T'), count: fc.integer({ min: 1, max: 3 }) })
const model = fc.array(
  fc.record({
    resources: fc.uniqueArray(resource, { maxLength: 3, selector: ({ name }) => name }),
    priority: fc.integer({ min: 0, max: 4 }),
  }),
  { minLength: 1, maxLength: 3 },
)
const job = fc.record({
  model: fc.nat({ max: 3 }),
  ms: fc.constantFrom(0, 1, 2, 5),
  gap: fc.constantFrom(0, 0, 0, 1, 3),
  instance: fc.nat({ max: 2 }),
})

it('never uses more than there is, serves everybody, leaves nothing idle: 10 000 schedules', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(model, { minLength: 1, maxLength: 4 }),
      fc.array(job, { maxLength: 25 }),
      fc.record({ R: fc.integer({ min: 3, max: 5 }), S: fc.integer({ min: 3, max: 5 }), pinned: fc.nat({ max: 15 }) }),
      async (models, jobs, { pinned, ...limits }) => {
        const units: Record<string, number> = { ...limits, T: 0 }
        for (const { resources } of models.flat())
          for (const { name, count } of resources) if (name === 'T') units['T'] = Math.max(units['T'] ?? 0, count)
        const specs = models.map((instances) =>
          instances.map(({ resources, priority }) =>
            spec(
              resources.map((one) => ({ ...one, global: false })),
              priority,
            ),
          ),
        )
        const { all, order, running } = setUp(specs, [limit('R', limits.R), limit('S', limits.S)])
        const use = () => {
          const used: Record<string, number> = {}
          for (const { rate } of running)
            for (const { name, count } of rate?.resources ?? []) used[name] = (used[name] ?? 0) + count
          return used
        }
        const check = () => {
          for (const [name, count] of Object.entries(use())) expect(count).toBeLessThanOrEqual(units[name] ?? 0)
        }
        for (const { model: index, ms, gap, instance } of jobs) {
          const asked = all[index % all.length]
          // Models of sequences want the instance that has the state, others any.
          const exact = (pinned >> (index % all.length)) % 2 === 1
          asked?.ask(0, ms, exact ? instance % asked.slots.length : undefined)
          check()
          if (gap > 0) await vi.advanceTimersByTimeAsync(gap)
          check()
        }
        await vi.advanceTimersByTimeAsync(5 * jobs.length + 5)
        expect(all.map(({ jobs: left }) => left.length)).toEqual(all.map(() => 0))
        expect(order).toHaveLength(jobs.length)
        expect(running.size).toBe(0)
      },
    ),
    { numRuns: 10_000 },
  )
}, 120_000)

it('starves nobody while others never stop asking', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 2, maxLength: 4 }), async (priorities) => {
      const needs = (index: number) => [of('R', index === 0 ? 3 : 1)]
      const { all, order } = setUp(
        priorities.map((priority, index) => [spec(needs(index), priority)]),
        [limit('R', 3)],
      )
      for (let i = 0; i < 40; i++) for (const one of all) one.ask(i, 1 + (i % 3))
      await vi.advanceTimersByTimeAsync(60)
      const turns = priorities.map((_, index) => order.filter((one) => one === index).length)
      // Shares follow the priorities, whatever a turn needs: the hungry one gets its own.
      const share = (index: number) => (turns[index] ?? 0) * (priorities[index] ?? 1)
      expect(Math.min(...turns)).toBeGreaterThan(0)
      expect(share(0)).toBeGreaterThanOrEqual(Math.min(...priorities.map((_, index) => share(index))) * 0.5)
      await vi.advanceTimersByTimeAsync(2_000)
      expect(order).toHaveLength(40 * all.length)
    }),
    { numRuns: 100 },
  )
})
