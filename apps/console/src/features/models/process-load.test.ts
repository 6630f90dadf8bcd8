import { expect, it } from 'vitest'
import { measureCpu } from './process-load.ts'

const look = (at: number, pid: number, cpuSeconds: number | null) => ({
  at,
  instances: [
    {
      version: '1',
      name: 'm_0_0',
      healthy: true,
      process: { pid, restarts: 0, lastExit: null, cpuSeconds, residentBytes: 1 },
    },
  ],
})
function measure(before: ReturnType<typeof look> | undefined, now: ReturnType<typeof look>): number | null {
  const [row] = now.instances
  return row === undefined ? null : measureCpu(before, now, row)
}

it('tells the cores in use between two looks', () => {
  expect(measure(look(1000, 7, 1), look(3000, 7, 2.5))).toBe(0.75)
})

it('says nothing about another process, or without a first look', () => {
  expect(measure(undefined, look(3000, 7, 2))).toBeNull()
  expect(measure(look(1000, 6, 1), look(3000, 7, 2))).toBeNull()
  expect(measure(look(1000, 7, null), look(3000, 7, 2))).toBeNull()
  expect(measure(look(3000, 7, 1), look(3000, 7, 2))).toBeNull()
})
