import { readFileSync } from 'node:fs'

/** How a process ended, as Node tells it. */
export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** Where the kernel counts the processes of this container that it killed for memory. */
const EVENTS = ['/sys/fs/cgroup/memory.events', '/sys/fs/cgroup/memory/memory.oom_control']

/** 0 where the count cannot be read. */
export function countMemoryKills(): number {
  for (const path of EVENTS) {
    try {
      const found = /^oom_kill (\d+)$/m.exec(readFileSync(path, 'utf8'))
      if (found !== null) return Number(found[1])
    } catch {
      continue
    }
  }
  return 0
}

/** For a person: `signal SIGSEGV`, `exit code 3`, `out of memory (…)`. */
export function describeExit(exit: Exit, isMemoryKill: boolean): string {
  if (isMemoryKill)
    return 'out of memory: the kernel killed the process (raise the memory limit, or load fewer instances)'
  if (exit.signal !== null) return `the process was ended by signal ${exit.signal}`
  return `the process ended with exit code ${exit.code ?? 'unknown'}`
}
