import type { LogLevel } from './contract.ts'
import type { Family, MetricKind } from './exposition.ts'
import { openGpus } from './nvml.ts'
import type { Gpu } from './nvml.ts'

const READINGS = ['utilization', 'memory', 'power', 'powerLimit', 'energy'] as const
type ReadingName = (typeof READINGS)[number]
/** A GPU that fails to say something so often is not asked again. */
const PATIENCE = 3

/** The last reading of one GPU. */
export interface GpuLoad {
  readonly uuid: string
  /** 0 … 1. */
  utilization: number
  /** Bytes. */
  memoryTotal: number
  memoryUsed: number
  /** Watts. */
  power: number
  powerLimit: number
  /** Joules since the server started. */
  energy: number
}

export interface GpuWatchParts {
  readonly intervalMs: number
  readonly log: (level: LogLevel, text: string) => void
  /** Another source than the driver, for tests. */
  readonly open?: (() => Promise<readonly Gpu[] | undefined>) | undefined
}

/** Reads all GPUs at an interval, off this thread. Without a driver there is nothing to read and no family appears. */
export class GpuWatch {
  readonly loads: GpuLoad[] = []
  /** Settles with the first reading. */
  readonly started: Promise<void>
  readonly #parts: GpuWatchParts
  readonly #watched: Watched[] = []
  #timer: NodeJS.Timeout | undefined = undefined
  #reading = false
  #closed = false

  constructor(parts: GpuWatchParts) {
    this.#parts = parts
    this.started = this.#start()
  }

  async #start(): Promise<void> {
    const gpus = await (this.#parts.open ?? openGpus)()
    if (gpus === undefined || this.#closed) return
    for (const [index, gpu] of gpus.entries()) {
      this.#parts.log('info', `Collecting metrics for GPU ${index}: ${gpu.name}`)
      const watched = new Watched(gpu, (reading) => {
        this.#parts.log('warning', `GPU ${index} did not tell its ${reading} ${PATIENCE} times and is not asked again`)
      })
      this.#watched.push(watched)
      this.loads.push(watched.load)
    }
    await this.read()
    if (this.#closed) return
    this.#timer = setInterval(() => void this.read(), Math.max(100, this.#parts.intervalMs / 2))
    this.#timer.unref()
  }

  /** A driver that hangs is not asked twice at once. */
  async read(): Promise<void> {
    if (this.#reading) return
    this.#reading = true
    await Promise.all(this.#watched.map((watched) => watched.read()))
    this.#reading = false
  }

  close(): void {
    this.#closed = true
    clearInterval(this.#timer)
  }
}

class Watched {
  readonly load: GpuLoad
  readonly #gpu: Gpu
  readonly #giveUp: (reading: ReadingName) => void
  readonly #failures = new Map<ReadingName, number>()
  #energyAtStart: number | undefined = undefined

  constructor(gpu: Gpu, giveUp: (reading: ReadingName) => void) {
    this.#gpu = gpu
    this.#giveUp = giveUp
    const none = { utilization: 0, memoryTotal: 0, memoryUsed: 0, power: 0, powerLimit: 0, energy: 0 }
    this.load = { uuid: gpu.uuid, ...none }
  }

  async read(): Promise<void> {
    for (const name of READINGS) {
      const failures = this.#failures.get(name) ?? 0
      if (failures >= PATIENCE) continue
      if (await this.#take(name)) this.#failures.set(name, 0)
      else {
        this.#failures.set(name, failures + 1)
        if (failures + 1 === PATIENCE) this.#giveUp(name)
      }
    }
  }

  /** False when the GPU does not tell; rates are then 0, sizes and sums stay. */
  async #take(name: ReadingName): Promise<boolean> {
    const { load } = this
    if (name === 'memory') {
      const memory = await this.#gpu.memory()
      load.memoryTotal = memory?.total ?? load.memoryTotal
      load.memoryUsed = memory?.used ?? load.memoryUsed
      return memory !== undefined
    }
    const value = await this.#gpu[name]()
    if (name === 'energy') {
      this.#energyAtStart ??= value
      if (value !== undefined) load.energy = Math.max(0, value - (this.#energyAtStart ?? value))
    } else load[name] = value ?? 0
    return value !== undefined
  }
}

const FAMILIES: readonly (readonly [string, MetricKind, string, Exclude<keyof GpuLoad, 'uuid'>])[] = [
  ['nv_gpu_utilization', 'gauge', 'GPU utilization rate [0.0 - 1.0)', 'utilization'],
  ['nv_gpu_memory_total_bytes', 'gauge', 'GPU total memory, in bytes', 'memoryTotal'],
  ['nv_gpu_memory_used_bytes', 'gauge', 'GPU used memory, in bytes', 'memoryUsed'],
  ['nv_gpu_power_usage', 'gauge', 'GPU power usage in watts', 'power'],
  ['nv_gpu_power_limit', 'gauge', 'GPU power management limit in watts', 'powerLimit'],
  ['nv_energy_consumption', 'counter', 'GPU energy consumption in joules since the Triton Server started', 'energy'],
]

/** One series a GPU (metrics §4). */
export function gpuFamilies(loads: readonly GpuLoad[]): readonly Family[] {
  return FAMILIES.map(([name, kind, help, key]) => ({
    name,
    kind,
    help,
    samples: loads.map((load) => ({ suffix: '', labels: { gpu_uuid: load.uuid }, value: load[key] })),
  }))
}
