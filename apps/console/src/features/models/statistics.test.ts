import { expect, it } from 'vitest'
import { readStatistics } from './statistics.ts'

const version = {
  name: 'iris',
  version: '2',
  last_inference: 1700000000000,
  inference_count: '12',
  execution_count: 4,
  inference_stats: {
    success: { count: 4, ns: '8000000' },
    fail: { count: 1, ns: 5 },
    queue: { count: 4, ns: 4000 },
    cache_hit: { count: 0, ns: 0 },
  },
  batch_stats: [{ batch_size: 3, compute_infer: { count: 4, ns: 2000000 } }],
}

it('turns counters into means, whether they are numbers or decimal strings', () => {
  const [stats] = readStatistics({ model_stats: [version] })
  expect(stats).toMatchObject({
    version: '2',
    inferences: 12,
    executions: 4,
    failures: 1,
    batches: [{ size: 3, count: 4, meanUs: 500 }],
  })
  expect(stats?.stages.find((row) => row.stage === 'Whole request')?.meanUs).toBe(2000)
  expect(stats?.stages.some((row) => row.stage === 'Cache hit')).toBe(false)
})

it('takes a bare list and survives anything else', () => {
  expect(readStatistics([version])).toHaveLength(1)
  expect(readStatistics(null)).toEqual([])
  expect(readStatistics([null])[0]).toMatchObject({ inferences: 0, stages: [], batches: [] })
})
