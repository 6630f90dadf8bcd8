import { completeConfig, parsePbtxt } from '@conch/protocol'
import { expect, it } from 'vitest'
import { Metrics } from '../observe/metrics.ts'
import { Instances } from './instances.ts'

const FACTS = {
  preferredGroup: { kind: 'KIND_CPU', count: 1 },
  gpus: [],
  directoryName: 'm',
  versionFiles: [],
} as const
const config = completeConfig(parsePbtxt('name: "m" backend: "fake"').config, FACTS)
const reporter = new Metrics({ enabled: true, cpu: false, intervalMs: 0, config: {} }).createReporter({
  model: 'm',
  version: '1',
  config,
})
const specs = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    name: `m_${i}`,
    kind: 'KIND_CPU' as const,
    deviceId: 0,
    profiles: [],
  }))

/** A model that can make `most` instances, one after the other. */
function makeModel(most: number) {
  const seen = { making: 0, together: 0, made: 0, closed: 0 }
  const createInstance = async () => {
    seen.making += 1
    seen.together = Math.max(seen.together, seen.making)
    await Promise.resolve()
    seen.making -= 1
    seen.made += 1
    if (seen.made > most) throw new Error('no more')
    const close = () => {
      seen.closed += 1
      return Promise.resolve()
    }
    return { execute: () => [], close }
  }
  return {
    seen,
    instances: new Instances(
      { createInstance, close: () => Promise.resolve() },
      { directory: '', reporter, check: () => undefined },
    ),
  }
}

it('makes few instances at a time, in the order of their names', async () => {
  const { seen, instances } = makeModel(Infinity)
  await instances.become(specs(50), config)
  expect(seen).toEqual({ making: 0, together: 4, made: 50, closed: 0 })
  expect(instances.pool.size).toBe(50)
  expect(instances.pool.take()?.name).toBe('m_49')
})

it('makes no more once one has failed, and closes those that were made', async () => {
  const { seen, instances } = makeModel(10)
  await expect(instances.become(specs(1000), config)).rejects.toThrow('no more')
  expect(seen.made).toBeLessThan(20)
  expect([instances.pool.size, seen.closed]).toEqual([0, 10])
})
