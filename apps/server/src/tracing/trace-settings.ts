import { ConchError } from '@conch/protocol'
import type { TraceFile } from './trace-file.ts'
import type { TraceLevel, TraceOptions } from './trace-options.ts'
import { TraceSetting } from './trace-setting.ts'
import type { SettingValues } from './trace-setting.ts'

/** A field → its new value; undefined = back to the one above it. */
export type TraceChange = { -readonly [K in keyof SettingValues]?: SettingValues[K] | undefined }

const FIELDS = ['level', 'rate', 'count', 'logFrequency'] as const

/**
 * The settings of the trace extension (reference: trace-logging §1): the command line's, the server's over them, a model's over
 * those. A field that a model does not have follows the server's, also when that changes later.
 */
export class TraceSettings {
  readonly #options: TraceOptions
  readonly #file: TraceFile | undefined
  readonly #first: SettingValues
  #global: TraceSetting
  readonly #models = new Map<string, TraceSetting>()
  /** Whether any request may be traced. */
  on: boolean

  /** Throws INVALID_ARG when the command line's settings do not fit together. */
  constructor(options: TraceOptions, file: TraceFile | undefined) {
    const { level, rate, count, logFrequency, mode } = options
    this.#options = options
    this.#file = file
    this.#first = { level, rate, count, logFrequency }
    // There a rate of 0 means: only what clients trace already.
    if (mode === 'triton' || rate !== 0) this.#check(this.#first)
    this.#global = new TraceSetting(this.#first, new Set(), file)
    this.on = this.#global.on
  }

  /** The setting that a model's requests follow; '' = the server's. */
  find(model: string): TraceSetting {
    return this.#models.get(model) ?? this.#global
  }

  /** Throws INVALID_ARG and changes nothing when the result would not be valid. */
  change(model: string, change: TraceChange): void {
    if (model === '') this.#changeGlobal(change)
    else this.#changeModel(model, change)
    this.on = [this.#global, ...this.#models.values()].some((setting) => setting.on)
  }

  #changeGlobal(change: TraceChange): void {
    const next = this.#derive(this.#global, change, { ...this.#first })
    this.#check(next.values)
    this.#global.replace()
    this.#global = next
    // Those that follow it change with it, and count from the beginning.
    for (const [model, setting] of this.#models) if (setting.own.size < FIELDS.length) this.#renew(model, setting)
  }

  #renew(model: string, setting: TraceSetting): void {
    const next = this.#derive(setting, {}, this.#above)
    setting.replace()
    this.#models.set(model, next)
  }

  #changeModel(model: string, change: TraceChange): void {
    const before = this.#models.get(model)
    const next = this.#derive(before, change, this.#above)
    this.#check(next.values)
    before?.replace()
    if (next.own.size === 0) this.#models.delete(model)
    else this.#models.set(model, next)
  }

  get #above(): SettingValues {
    return { ...this.#global.values, count: this.#global.left }
  }

  #derive(before: TraceSetting | undefined, change: TraceChange, above: SettingValues): TraceSetting {
    const now = before === undefined ? above : { ...before.values, count: before.left }
    const own = new Set(before?.own)
    const values: Record<string, unknown> = { ...above }
    for (const field of FIELDS) {
      if (field in change) {
        if (change[field] === undefined) own.delete(field)
        else own.add(field)
      }
      if (own.has(field)) values[field] = change[field] ?? now[field]
    }
    return new TraceSetting(values as unknown as SettingValues, own, this.#file)
  }

  #check({ level, rate }: SettingValues): void {
    if (level.length === 0) return
    const reason =
      rate === 0
        ? 'sample rate must be non-zero'
        : this.#options.mode === 'triton' && this.#options.file === ''
          ? 'trace file name is not given'
          : ''
    if (reason !== '') throw new ConchError('INVALID_ARG', `Attempting to set invalid trace setting :${reason}`)
  }

  flush(): void {
    for (const setting of [this.#global, ...this.#models.values()]) setting.flush()
  }

  /** As both protocols show it: names, and values as texts; the level is a list. */
  show(model: string): Readonly<Record<string, string | readonly string[]>> {
    const { values, left } = this.find(model)
    const { mode, file, collector } = this.#options
    const level: readonly (TraceLevel | 'OFF')[] = values.level.length === 0 ? ['OFF'] : values.level
    const common = { trace_level: level, trace_rate: String(values.rate), trace_count: String(left) }
    if (mode === 'triton') {
      return { ...common, log_frequency: String(values.logFrequency), trace_file: file, trace_mode: mode }
    }
    return {
      ...common,
      trace_mode: mode,
      bsp_max_export_batch_size: String(collector.batchSize),
      bsp_max_queue_size: String(collector.queueSize),
      bsp_schedule_delay: String(collector.delayMs),
      resource: Object.entries(collector.resource)
        .map(([key, value]) => `${key}=${value}`)
        .join(),
      url: collector.url,
    }
  }
}
