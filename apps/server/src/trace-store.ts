import { ConchError } from '@conch/protocol'

export interface TraceValues {
  trace_level: readonly string[]
  trace_rate: string
  trace_count: string
  log_frequency: string
}

const DEFAULTS: Readonly<TraceValues> = {
  trace_level: ['OFF'],
  trace_rate: '1000',
  trace_count: '-1',
  log_frequency: '0',
}

/** The settings of the trace extension: global ones and overrides per model. Nothing is traced in this release. */
export class TraceSettings {
  readonly #global: Partial<TraceValues> = {}
  readonly #models = new Map<string, Partial<TraceValues>>()

  show(model: string) {
    return { ...this.#values(model), trace_file: '', trace_mode: 'triton' }
  }

  /** Throws and changes nothing when the result would not be valid (reference: http §10). */
  change(model: string, change: TraceChange): void {
    const target = model === '' ? this.#global : { ...this.#models.get(model) }
    const next = { ...target }
    for (const [key, value] of change) {
      if (value === undefined) delete next[key]
      else Object.assign(next, { [key]: value })
    }
    const level = next.trace_level ?? this.#values('').trace_level
    if (level[0] !== 'OFF')
      throw new ConchError('INVALID_ARG', 'Attempting to set invalid trace setting :trace file name is not given')
    if (model !== '') this.#models.set(model, next)
    else {
      for (const key of change.keys()) delete this.#global[key]
      Object.assign(this.#global, next)
    }
  }

  #values(model: string): TraceValues {
    return { ...DEFAULTS, ...this.#global, ...this.#models.get(model) }
  }
}

/** Setting → its new value; undefined = back to the one above it. */
export type TraceChange = Map<keyof TraceValues, TraceValues[keyof TraceValues] | undefined>
