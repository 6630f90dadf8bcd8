import { expect, it } from 'vitest'
import { parseUsage, readUsage } from './process-usage.ts'

it('reads what a process used, whatever it is called', () => {
  const stat = '77 (a) R 1 (b)) S 1 77 77 0 -1 4194560 900 0 3 0 150 50 25 5 20 0 4 0 1234 99 88'
  const status = 'Name:\ta) R 1 (b)\nVmPeak:\t  9 kB\nVmRSS:\t    2048 kB\nThreads:\t4\n'
  expect(parseUsage(stat, status)).toEqual({ cpuSeconds: 2.3, residentBytes: 2_097_152 })
  expect(parseUsage(stat, 'Name:\tgone\n').residentBytes).toBe(0)
})

it('knows this process and no process that is not there', async () => {
  const own = await readUsage(process.pid)
  expect(own?.cpuSeconds).toBeGreaterThan(0)
  expect(own?.residentBytes).toBeGreaterThan(1_000_000)
  expect(await readUsage(2 ** 30)).toBeUndefined()
})
