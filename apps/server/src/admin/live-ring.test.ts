import type { LiveSample } from '@conch/engine'
import { expect, it } from 'vitest'
import { findPercentile } from './live-counters.ts'
import { createLiveRing } from './live-ring.ts'
import type { LiveFrame } from './live/live.schema.ts'

const stat = (count = 0, ns = 0) => ({ count, ns })
interface Numbers {
  success?: number
  fail?: number
  queueNs?: number
  rows?: number
  runs?: number
  counts?: number[]
  model?: string
}
function sample({
  success = 0,
  fail = 0,
  queueNs = 0,
  rows = 0,
  runs = 0,
  counts = [0, 0, 0],
  model = 'm',
}: Numbers): LiveSample {
  const empty = stat()
  return {
    model,
    version: '1',
    pending: 2,
    inflight: 3,
    failures: { REJECTED: 0, CANCELED: 0, BACKEND: fail, OTHER: 0 },
    latency: { bounds: [100, 1000], counts },
    statistics: {
      name: model,
      version: '1',
      last_inference: 0,
      inference_count: rows,
      execution_count: runs,
      inference_stats: {
        success: stat(success),
        fail: stat(fail),
        queue: stat(success, queueNs),
        compute_input: empty,
        compute_infer: empty,
        compute_output: empty,
        cache_hit: empty,
        cache_miss: empty,
      },
      response_stats: {},
      batch_stats: [],
      memory_usage: [],
    },
  }
}

function stand() {
  let now = 1_000_000
  let samples: LiveSample[] = []
  let cpuUs = 0
  const ring = createLiveRing({
    samples: () => samples,
    now: () => now,
    use: () => ({ cpuUs, rssBytes: 1, heapBytes: 2, eventLoopP99Ms: 3 }),
  })
  const step = (next: LiveSample[], usedUs = 0, ms = 1000) => {
    now += ms
    samples = next
    cpuUs += usedUs
    ring.tick()
    return ring.history(1)[0]
  }
  return { ring, step }
}

it('makes rates of what happened between two looks', () => {
  const { step } = stand()
  step([sample({ success: 100, rows: 400, runs: 100 })])
  const frame = step(
    [sample({ success: 300, fail: 10, queueNs: 4_000_000, rows: 1200, runs: 200, counts: [210, 0, 0] })],
    1_500_000,
    2000,
  )
  expect(frame?.models).toMatchObject([
    { rps: 105, errors: 5, queueUs: 20, batch: 8, pending: 2, inflight: 3, failures: { BACKEND: 10 } },
  ])
  expect(frame?.server).toEqual({ cpu: 0.75, rssBytes: 1, heapBytes: 2, eventLoopP99Ms: 3, rps: 105, errors: 5 })
})

it('says nothing about latency when nothing was answered', () => {
  const { step } = stand()
  step([sample({ success: 5, counts: [5, 0, 0] })])
  expect(step([sample({ success: 5, counts: [5, 0, 0] })])?.models).toMatchObject([
    { rps: 0, p50Us: null, p95Us: null, queueUs: null, batch: null },
  ])
})

it('starts anew with a version that was loaded anew, never below zero', () => {
  const { step } = stand()
  step([sample({ success: 1000, rows: 1000, runs: 1000, counts: [1000, 0, 0] })])
  expect(step([sample({ success: 3, rows: 3, runs: 3, counts: [3, 0, 0] })])?.models).toMatchObject([
    { rps: 3, batch: 1 },
  ])
})

it('finds percentiles inside their bucket', () => {
  const buckets = { bounds: [100, 200, 400], buckets: [50, 50, 0, 0] }
  expect(findPercentile(buckets, 0.5)).toBe(100)
  expect(findPercentile(buckets, 0.75)).toBe(150)
  expect(findPercentile({ bounds: [100], buckets: [0, 9] }, 0.99)).toBe(100)
  expect(findPercentile({ bounds: [100], buckets: [0, 0] }, 0.5)).toBeNull()
})

it('sums a model over its last minute', () => {
  const { ring, step } = stand()
  for (let i = 0; i <= 100; i += 1) step([sample({ success: i * 9, fail: i, counts: [i * 10, 0, 0] })])
  expect(ring.recent('m')).toEqual({ rps: 10, p95Us: 95, errorRate: 0.1, requests: 1000 })
  expect(ring.recent('other')).toEqual({ rps: 0, p95Us: null, errorRate: 0, requests: 0 })
})

it('keeps a quarter of an hour and no more, and follows for as long as asked', () => {
  const { ring, step } = stand()
  const seen: LiveFrame[] = []
  const stop = ring.follow((frame) => seen.push(frame))
  for (let i = 0; i < 1000; i += 1) step([])
  stop()
  step([])
  expect(ring.history(10_000)).toHaveLength(900)
  expect(ring.history(10)).toHaveLength(10)
  expect(seen).toHaveLength(1000)
})

it('keeps frames small with many models: those at rest are left out', () => {
  const { step } = stand()
  const many = (busy: number) =>
    Array.from({ length: 60 }, (_, i) => ({
      ...sample({ model: `m${i}`, success: i === 7 ? busy : 0 }),
      pending: 0,
      inflight: 0,
    }))
  step(many(0))
  expect(step(many(5))?.models.map(({ model, rps }) => [model, rps])).toEqual([['m7', 5]])
})
