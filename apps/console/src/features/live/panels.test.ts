import type { LiveFrame } from '@conch/server/schemas'
import { expect, it } from 'vitest'
import { buildPanels } from './panels.ts'

const frame = (at: number): LiveFrame => ({
  at,
  models: ['iris', 'digits'].map((model, index) => ({
    model,
    version: '1',
    rps: index + 1,
    p50Us: 100,
    p95Us: 200,
    p99Us: 300,
    queueUs: 10,
    batch: 1,
    pending: 0,
    inflight: 0,
    errors: 0,
    failures: { REJECTED: 0, CANCELED: 0, BACKEND: 0, OTHER: 0 },
  })),
  server: { cpu: 0.25, rssBytes: 2 ** 20, heapBytes: 2 ** 19, eventLoopP99Ms: 1.5, rps: 3, errors: 0 },
})
const frames = [frame(1000), frame(2000), frame(3000)]

it('draws a line for each busy model, the busiest first', () => {
  const panels = buildPanels({ frames, model: '', seconds: 60, now: 3000 })
  const requests = panels.find((panel) => panel.title === 'Requests')
  expect(requests?.series.lines.map((line) => line.label)).toEqual(['digits', 'iris'])
  expect(requests?.series.points.at(-1)).toMatchObject({ digits: 2, iris: 1 })
})

it('shows the three percentiles of one model', () => {
  const panels = buildPanels({ frames, model: 'iris', seconds: 60, now: 3000 })
  const latency = panels.find((panel) => panel.title === 'Latency')
  expect(latency?.series.points.at(-1)).toMatchObject({ p50: 100, p95: 200, p99: 300 })
  expect(panels.some((panel) => panel.title === 'Latency p95')).toBe(false)
})

it('writes units on every value', () => {
  const panels = buildPanels({ frames, model: '', seconds: 60, now: 3000 })
  const texts = Object.fromEntries(panels.map((panel) => [panel.title, panel.format(1500)]))
  expect(texts).toMatchObject({
    Requests: '1,500/s',
    'Latency p95': '1.5 ms',
    CPU: '1,500 cores',
    Memory: '1.46 KiB',
    'Event loop': '1.5 s',
  })
})

it('leaves out what is older than the window', () => {
  const panels = buildPanels({ frames: [frame(1000), frame(100_000)], model: '', seconds: 60, now: 100_000 })
  expect(panels[0]?.series.points).toHaveLength(1)
})
