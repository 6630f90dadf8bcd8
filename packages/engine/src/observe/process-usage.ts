import { readFile } from 'node:fs/promises'
import type { ProcessUsage } from './contract.ts'
import type { Family } from './exposition.ts'

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

/** The process of one instance of a model. */
export interface InstanceProcess {
  readonly model: string
  readonly version: string
  readonly instance: string
  readonly pid: number
  readonly restarts: number
}

/** Superset: what the processes of instances use. A counter falls to 0 when its process was started again. */
export async function readProcessFamilies(processes: readonly InstanceProcess[]): Promise<readonly Family[]> {
  const readings = await Promise.all(
    processes.map(async ({ model, version, instance, pid, restarts }) => {
      return { labels: { model, version, instance }, restarts, usage: await readUsage(pid) }
    }),
  )
  const pick = (choose: (usage: ProcessUsage) => number) =>
    readings.flatMap(({ labels, usage }) => (usage === undefined ? [] : [{ suffix: '', labels, value: choose(usage) }]))
  return [
    {
      name: 'conch_instance_cpu_seconds_total',
      help: 'CPU time used by the process of an instance in seconds',
      kind: 'counter',
      samples: pick(({ cpuSeconds }) => cpuSeconds),
    },
    {
      name: 'conch_instance_restarts_total',
      help: 'Number of times the process of an instance was started again',
      kind: 'counter',
      samples: readings.map(({ labels, restarts }) => ({ suffix: '', labels, value: restarts })),
    },
    {
      name: 'conch_instance_resident_memory_bytes',
      help: 'Memory held by the process of an instance in bytes',
      kind: 'gauge',
      samples: pick(({ residentBytes }) => residentBytes),
    },
  ]
}
