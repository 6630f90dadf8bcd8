import { ConchError } from '@conch/protocol'
import type { ActiveRequest } from '../../request.ts'
import type { CustomFamily, CustomSeries, EngineCalls } from '../contract.ts'

const NAME = 'input_byte_size_counter'
const HELP = 'Cumulative input byte size of all requests received by the model'

/** The metric of this backend's own (other backends §4): bytes of all inputs, by model and version. */
export class InputBytes {
  readonly #family: CustomFamily | undefined
  readonly #series: CustomSeries | undefined

  constructor(engine: EngineCalls, labels: { readonly model: string; readonly version: string }) {
    try {
      this.#family = engine.createFamily('counter', NAME, HELP)
      this.#series = this.#family.createSeries(labels, undefined)
    } catch (error) {
      // Metrics are off, or a model took the name for something else: no reason not to serve.
      if (!(error instanceof ConchError)) throw error
    }
  }

  count(requests: readonly ActiveRequest[]): void {
    if (this.#series === undefined) return
    let bytes = 0
    for (const { request } of requests) for (const { data } of request.inputs) bytes += data.byteLength
    this.#series.increment(bytes)
  }

  close(): void {
    this.#series?.close()
    this.#family?.close()
  }
}
