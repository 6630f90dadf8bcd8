import type { LiveFrame, LiveModel } from '@conch/server/schemas'
import { expect, it } from 'vitest'
import { listModels, mergeFrames } from './frames.ts'
import { buildSeries, busiestModels, chooseStep, lastValues, nameModels } from './series.ts'

const NO_FAILURES = { REJECTED: 0, CANCELED: 0, BACKEND: 0, OTHER: 0 }
const model = (name: string, rps: number, version = '1'): LiveModel => ({
  model: name,
  version,
  rps,
  p50Us: null,
  p95Us: rps > 0 ? 1000 : null,
  p99Us: null,
  queueUs: null,
  batch: null,
  pending: 0,
  inflight: 0,
  errors: 0,
  failures: NO_FAILURES,
})
const frame = (at: number, ...models: LiveModel[]): LiveFrame => ({
  at,
  models,
  server: { cpu: 0.5, rssBytes: 1, heapBytes: 1, eventLoopP99Ms: 1, rps: 0, errors: 0 },
})
const options = {
  lines: [{ key: 'a', label: 'a' }],
  read: (each: LiveFrame) => ({ a: each.models[0]?.rps ?? null }),
  combine: 'mean' as const,
  from: 0,
  step: 1000,
}

it('draws a gap where frames are missing', () => {
  const { points } = buildSeries(
    [frame(1000, model('m', 1)), frame(2000, model('m', 2)), frame(9000, model('m', 3))],
    options,
  )
  expect(points.map((point) => [point.at, point['a']])).toEqual([
    [1000, 1],
    [2000, 2],
    [3000, null],
    [9000, 3],
  ])
})

it('keeps a value that is not known as a gap instead of a zero', () => {
  const { points } = buildSeries([frame(1000), frame(2000, model('m', 2))], options)
  expect(points[0]?.['a']).toBeNull()
})

it('combines the frames of a step', () => {
  const frames = [frame(4000, model('m', 1)), frame(5000, model('m', 5)), frame(8000, model('m', 2))]
  const means = buildSeries(frames, { ...options, step: 4000 })
  expect(means.points.map((point) => point['a'])).toEqual([3, 2])
  const most = buildSeries(frames, { ...options, step: 4000, combine: 'max' })
  expect(most.points[0]?.['a']).toBe(5)
  expect(lastValues(most)).toEqual({ a: 2 })
})

it('bounds the number of points of any window', () => {
  for (const seconds of [60, 300, 900]) expect((seconds * 1000) / chooseStep(seconds)).toBeLessThanOrEqual(180)
})

it('names versions only where there are several', () => {
  const frames = [frame(1000, model('m', 1, '1'), model('m', 1, '2'), model('n', 1))]
  const name = nameModels(frames)
  expect(frames[0]?.models.map(name)).toEqual(['m v1', 'm v2', 'n'])
})

it('ranks the busiest models and leaves the silent ones out', () => {
  const frames = [frame(1000, model('a', 1), model('b', 9), model('c', 0)), frame(2000, model('a', 1))]
  expect(busiestModels(frames, 5)).toEqual(['b', 'a'])
  expect(busiestModels(frames, 1)).toEqual(['b'])
  expect(listModels(frames)).toEqual(['a', 'b', 'c'])
})

it('merges history and stream without doubles, whichever comes first', () => {
  const stream = mergeFrames([], [frame(3000)], 3)
  const all = mergeFrames(stream, [frame(1000), frame(2000), frame(3000)], 3)
  expect(all.map((each) => each.at)).toEqual([1000, 2000, 3000])
  expect(mergeFrames(all, [frame(4000)], 3).map((each) => each.at)).toEqual([2000, 3000, 4000])
})
