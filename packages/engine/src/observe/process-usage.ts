import { readFile } from 'node:fs/promises'
import type { ProcessUsage } from './contract.ts'

/** Linux counts CPU time for programs in hundredths of a second, whatever its own clock does. */
const TICKS = 100

/** Undefined when there is no such process, or no `/proc`. */
export async function readUsage(pid: number): Promise<ProcessUsage | undefined> {
  try {
    const [stat, status] = await Promise.all([
      readFile(`/proc/${pid}/stat`, 'latin1'),
      readFile(`/proc/${pid}/status`, 'latin1'),
    ])
    return parseUsage(stat, status)
  } catch {
    return undefined
  }
}

/** `stat` and `status` of a process in `/proc` (proc(5)); its name in the first may hold anything, brackets too. */
export function parseUsage(stat: string, status: string): ProcessUsage {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  // utime, stime, cutime, cstime.
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
  const resident = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? '0'
  return { cpuSeconds: ticks / TICKS, residentBytes: Number(resident) * 1_024 }
}
