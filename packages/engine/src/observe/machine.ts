import { readFile } from 'node:fs/promises'

/** What the machine does; rates are 0 … 1, sizes bytes. */
export interface MachineLoad {
  cpu: number
  memoryTotal: number
  memoryUsed: number
}

/** Reads /proc at an interval; all zero before the first reading and where there is no /proc. */
export class MachineWatch {
  readonly load: MachineLoad = { cpu: 0, memoryTotal: 0, memoryUsed: 0 }
  readonly #timer: NodeJS.Timeout
  #busy = 0
  #all = 0

  constructor(intervalMs: number) {
    this.#timer = setInterval(() => void this.read(), Math.max(100, intervalMs / 2))
    this.#timer.unref()
    void this.read()
  }

  async read(): Promise<void> {
    try {
      const [stat, memory] = await Promise.all([readFile('/proc/stat', 'utf8'), readFile('/proc/meminfo', 'utf8')])
      this.#take(stat, memory)
    } catch {
      // No /proc: the values stay 0, as the original's before its first poll.
    }
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #take(stat: string, memory: string): void {
    const [user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, soft = 0, steal = 0] = readTimes(stat)
    const busy = user + nice + system + irq + soft + steal
    const all = busy + idle + wait
    if (all > this.#all && this.#all > 0) this.load.cpu = Math.max(0, busy - this.#busy) / (all - this.#all)
    this.#busy = busy
    this.#all = all
    this.load.memoryTotal = readKilobytes(memory, 'MemTotal')
    this.load.memoryUsed = this.load.memoryTotal - readKilobytes(memory, 'MemAvailable')
  }
}

function readTimes(stat: string): number[] {
  return stat.slice(0, stat.indexOf('\n')).split(/\s+/).slice(1).map(Number)
}

function readKilobytes(text: string, key: string): number {
  return Number(new RegExp(`^${key}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) * 1024
}
