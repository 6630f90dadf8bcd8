import type { InferRequest, InferResponse, ShadowRules, Tensor } from '@conch/protocol'
import { findDifference } from './compare.ts'
import type { ModelVersions, ShadowCounts } from './contract.ts'
import { Splitter } from './split.ts'

/** A copy that takes longer has failed: it must not hold its place for ever, milliseconds. */
const MAX_TIME = 60_000

/** Copies requests for a version whose answers only are compared. No client ever waits for one. */
export class Shadow {
  readonly rules: ShadowRules
  example = ''
  inflight = 0
  readonly counts: { -readonly [K in keyof ShadowCounts]: number } = {
    sent: 0,
    matched: 0,
    different: 0,
    failed: 0,
    dropped: 0,
  }
  readonly #versions: Pick<ModelVersions, 'ask'>
  readonly #onCompared: (good: boolean) => void
  readonly #splitter = new Splitter()
  readonly #stopping = new AbortController()
  readonly #choices: readonly { readonly version: string; readonly weight: number }[]

  constructor(rules: ShadowRules, versions: Pick<ModelVersions, 'ask'>, onCompared: (good: boolean) => void) {
    this.rules = rules
    this.#versions = versions
    this.#onCompared = onCompared
    this.#choices = [
      { version: 'copy', weight: rules.percent },
      { version: '', weight: 100 - rules.percent },
    ]
  }

  /** Copies under way are cancelled: nobody waits for what they say. */
  stop(): void {
    this.#stopping.abort()
  }

  /** Whether the next request is one of those that are copied: exactly `percent` of them are. */
  choose(): boolean {
    return this.#splitter.pick(this.#choices) === 'copy'
  }

  /**
   * Copies a request that was answered; to be called before either loses its memory. Returns false when there is no room:
   * then it is dropped.
   */
  copy(request: InferRequest, answers: readonly InferResponse[] | undefined): boolean {
    if (answers === undefined || !this.#hasRoom(request, answers)) {
      this.counts.dropped += 1
      return false
    }
    this.counts.sent += 1
    this.inflight += 1
    const copy: InferRequest = {
      ...request,
      version: this.rules.version,
      inputs: request.inputs.map(copyTensor),
      outputs: request.outputs.map((output) => ({ ...output, region: undefined })),
    }
    const expected = answers.map(({ outputs }) => outputs.map(copyTensor))
    // The client's answer leaves first.
    setImmediate(() => void this.#run(copy, expected))
    return true
  }

  #hasRoom(request: InferRequest, answers: readonly InferResponse[]): boolean {
    if (this.inflight >= this.rules.maxInflight) return false
    const tensors = [...request.inputs, ...answers.flatMap(({ outputs }) => outputs)]
    return tensors.reduce((sum, { data }) => sum + data.byteLength, 0) <= this.rules.maxBytes
  }

  async #run(copy: InferRequest, expected: readonly (readonly Tensor[])[]): Promise<void> {
    let difference: string | undefined
    let failed = false
    try {
      const responses = await this.#versions.ask(
        copy,
        AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(MAX_TIME)]),
      )
      difference = this.#compare(expected, responses)
    } catch (error) {
      failed = true
      difference = `failed: ${error instanceof Error ? error.message : String(error)}`
    }
    this.inflight -= 1
    if (failed) this.counts.failed += 1
    else if (difference === undefined) this.counts.matched += 1
    else this.counts.different += 1
    if (difference !== undefined) this.example = copy.id === '' ? difference : `request '${copy.id}': ${difference}`
    this.#onCompared(difference === undefined)
  }

  #compare(expected: readonly (readonly Tensor[])[], responses: readonly InferResponse[]): string | undefined {
    if (expected.length !== responses.length) return `gave ${responses.length} responses instead of ${expected.length}`
    for (const [i, outputs] of expected.entries()) {
      const difference = findDifference(outputs, responses[i]?.outputs ?? [], this.rules)
      if (difference !== undefined) return difference
    }
    return undefined
  }
}

/** A copy: the memory of a request and of its answer is somebody else's once the client has its answer. */
function copyTensor({ name, datatype, shape, data }: Tensor): Tensor {
  return { name, datatype, shape, data: data.slice() }
}
