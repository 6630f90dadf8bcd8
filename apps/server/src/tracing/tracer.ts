import { printTensor, randomHex, Trace } from '@conch/engine'
import type { Log, TraceParts } from '@conch/engine'
import { parseContext, printContext } from './context.ts'
import type { SpanContext } from './context.ts'
import { SpanExporter } from './exporter.ts'
import { printTrace } from './print-trace.ts'
import { makeSpans } from './spans.ts'
import { TraceFile } from './trace-file.ts'
import type { TraceOptions } from './trace-options.ts'
import type { TraceSetting } from './trace-setting.ts'
import { TraceSettings } from './trace-settings.ts'

/** The value of a request's header or metadata, by its name in lower case. */
export type FindHeader = (name: string) => string | undefined

/** Chooses the requests that are traced, and hands on what they reported. One per server, used by all its faces. */
export class Tracer {
  readonly settings: TraceSettings
  readonly #file: TraceFile | undefined
  readonly #exporter: SpanExporter | undefined
  readonly #log: Log
  #lastId = 0
  #saidTensors = false

  /** Throws INVALID_ARG when the options do not fit together. */
  constructor(options: TraceOptions, log: Log) {
    const complain = (text: string) => log.write('error', text)
    const spans = options.mode === 'opentelemetry'
    this.#log = log
    this.#file = spans || options.file === '' ? undefined : new TraceFile(options.file, complain)
    this.settings = new TraceSettings(options, this.#file)
    this.#exporter = spans ? new SpanExporter(options.collector, complain) : undefined
  }

  /** The one question that every request asks. */
  get on(): boolean {
    return this.settings.on
  }

  /** Spans that were dropped so far. */
  get dropped(): number {
    return this.#exporter?.dropped ?? 0
  }

  /** The trace of a request to a model; undefined for those that are not chosen. It must be released. */
  sample(model: string, find: FindHeader): Trace | undefined {
    const setting = this.settings.find(model)
    if (!setting.on) return undefined
    if (this.#exporter !== undefined) return this.#sampleSpans(setting, find, this.#exporter)
    if (!setting.sample(false)) return undefined
    return new Trace({
      nextId: this.#nextId,
      printTensor: setting.values.level.includes('TENSORS') ? printTensor : undefined,
      printContext: undefined,
      onDone: (trace) => setting.collect(printTrace(trace)),
    })
  }

  #sampleSpans(setting: TraceSetting, find: FindHeader, exporter: SpanExporter): Trace | undefined {
    const given = parseContext(find('traceparent'), find('tracestate'))
    if (!setting.sample(given !== undefined)) return undefined
    if (setting.values.level.includes('TENSORS')) this.#refuseTensors()
    const context = given ?? beginContext()
    const rootId = randomHex(8)
    const { traceId, state } = context
    const parts: TraceParts = {
      nextId: this.#nextId,
      printTensor: undefined,
      printContext: ({ computeId }) => printContext({ traceId, state, spanId: computeId }),
      onDone: (trace) => exporter.add(makeSpans(trace, { context, rootId })),
    }
    return new Trace(parts)
  }

  readonly #nextId = (): number => {
    this.#lastId += 1
    return this.#lastId
  }

  #refuseTensors(): void {
    if (this.#saidTensors) return
    this.#saidTensors = true
    this.#log.write('error', 'Tensor level tracing is not supported by the mode: opentelemetry')
  }

  /** Writes or sends what is left. */
  async close(): Promise<void> {
    this.settings.flush()
    await Promise.all([this.#file?.close(), this.#exporter?.close()])
  }
}

/** Nobody has begun a trace: this one has no parent. */
function beginContext(): SpanContext {
  return { traceId: randomHex(16), spanId: '', state: '' }
}
