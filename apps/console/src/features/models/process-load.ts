import type { InstanceRow, InstancesNow } from '@conch/server/schemas'

/** Cores in use by a process between two looks at it; null while it is not known. */
export function measureCpu(before: InstancesNow | undefined, now: InstancesNow, row: InstanceRow): number | null {
  const process = row.process
  const old = before?.instances.find(({ name, version }) => name === row.name && version === row.version)?.process
  if (before === undefined || process === null || old === null || old === undefined || old.pid !== process.pid)
    return null
  if (process.cpuSeconds === null || old.cpuSeconds === null || now.at <= before.at) return null
  return Math.max(0, (process.cpuSeconds - old.cpuSeconds) / ((now.at - before.at) / 1000))
}
