import { ConchError } from '@conch/protocol'
import type { InferResponse, Tensor } from '@conch/protocol'
import type { ActiveRequest } from '../../request.ts'
import type { Batch, BatchAnswer, BatchAnswers } from '../contract.ts'
import type { ResponseEntry } from './frames.ts'
import { readParameters, toError } from './frames.ts'
import type { Harvest } from './response-arena.ts'

export interface ModelFacts {
  readonly model: string
  readonly version: string
  /** Of the instance: what messages name. */
  readonly instance: string
  readonly decoupled: boolean
  readonly outputs: ReadonlySet<string>
}

/** A request that a child has and that is not over. */
export interface LiveRequest {
  readonly q: number
  readonly active: ActiveRequest
  /** It was told to the child that nobody waits for it. */
  isCancelled: boolean
}

interface RunningBatch {
  readonly batch: Batch
  readonly first: number
  readonly resolve: (answers: BatchAnswers) => void
  readonly reject: (error: unknown) => void
}

/** The requests and batches that one child works on; each ends exactly once, also when the child does. */
export class Requests {
  readonly #facts: ModelFacts
  readonly #live = new Map<number, LiveRequest>()
  readonly #batches = new Map<number, RunningBatch>()
  #nextRequest = 1
  #nextBatch = 1
  /** Batches that were answered. */
  answered = 0

  constructor(facts: ModelFacts) {
    this.#facts = facts
  }

  get live(): ReadonlyMap<number, LiveRequest> {
    return this.#live
  }

  /** Takes the numbers of a batch; the first request's, the others follow. */
  open(batch: Batch): { readonly b: number; readonly first: number; readonly answers: Promise<BatchAnswers> } {
    const b = this.#nextBatch++
    const first = this.#nextRequest
    this.#nextRequest += batch.requests.length
    let q = first
    for (const active of batch.requests) {
      this.#live.set(q, { q, active, isCancelled: false })
      q += 1
    }
    const answers = new Promise<BatchAnswers>((resolve, reject) => {
      this.#batches.set(b, { batch, first, resolve, reject })
    })
    return { b, first, answers }
  }

  /** Reads the answers of a batch; what is returned ends it. Throws for answers that cannot be. */
  readDone(b: number, entries: readonly (ResponseEntry | null)[], harvest: Harvest): () => void {
    const running = this.#batches.get(b)
    if (running === undefined) throw new Error(`an answer to batch ${b}, which does not run`)
    const { batch, first } = running
    batch.computeOutputStart = performance.now()
    const count = batch.requests.length
    const answers: BatchAnswer[] = []
    for (let i = 0; i < count; i++) answers.push(this.#readAnswer(first + i, entries[i], harvest))
    return () => {
      this.#batches.delete(b)
      this.answered += 1
      running.resolve(answers)
    }
  }

  #readAnswer(q: number, entry: ResponseEntry | null | undefined, harvest: Harvest): BatchAnswer {
    if (entry === undefined || entry === null) return 'responded'
    harvest.claim(entry.out)
    const live = this.#live.get(q)
    if (live === undefined) return 'responded'
    this.#live.delete(q)
    if (entry.again === true) return 'again'
    return this.#readResponse(live.active, entry, harvest)
  }

  /** The whole batch failed in the model. */
  failBatch(b: number, text: string): void {
    const running = this.#batches.get(b)
    if (running === undefined) throw new Error(`an answer to batch ${b}, which does not run`)
    running.batch.computeOutputStart = performance.now()
    this.answered += 1
    const message = `Failed to process the request(s) for model '${this.#facts.instance}', message: ${text}`
    this.rejectBatch(b, new ConchError('INTERNAL', message))
  }

  rejectBatch(b: number, error: unknown): void {
    const running = this.#batches.get(b)
    if (running === undefined) return
    this.#batches.delete(b)
    for (let i = 0; i < running.batch.requests.length; i++) this.#live.delete(running.first + i)
    running.reject(error)
  }

  /** A sender's response; what is returned delivers it. */
  readSend(q: number, entry: ResponseEntry | null | undefined, harvest: Harvest): (final: boolean) => void {
    harvest.claim(entry?.out)
    const live = this.#live.get(q)
    if (live === undefined) return () => undefined
    const answer = entry === undefined || entry === null ? undefined : this.#readResponse(live.active, entry, harvest)
    return (final) => this.#deliver(live, answer, final)
  }

  #deliver(live: LiveRequest, answer: Answer | undefined, final: boolean): void {
    const { active } = live
    if (final) this.#live.delete(live.q)
    if (answer !== undefined && 'error' in answer) {
      if (final) active.fail(answer.error, 'backend')
      else active.respondError(answer.error)
      return
    }
    active.respond(answer === undefined ? undefined : this.#toResponse(active, answer), final)
  }

  /** Nobody can answer it any more. */
  drop(q: number): void {
    const live = this.#live.get(q)
    if (live === undefined) return
    this.#live.delete(q)
    if (this.#facts.decoupled) live.active.respond(undefined, true)
    else live.active.fail(new ConchError('INTERNAL', this.#explainSilence()), 'backend')
  }

  #explainSilence(): string {
    const { instance } = this.#facts
    const why = 'execute() returned without a response for it, and its response sender was not used'
    return `Failed to process the request(s) for model '${instance}', message: the request was not answered: ${why}`
  }

  /** The child is gone: everything that it had fails. */
  failAll(error: ConchError): void {
    for (const b of this.#batches.keys()) this.rejectBatch(b, error)
    for (const { active } of this.#live.values()) active.fail(error, 'backend')
    this.#live.clear()
  }

  #readResponse(active: ActiveRequest, entry: ResponseEntry, harvest: Harvest): Answer {
    if (entry.error !== undefined && entry.error !== null) return { error: toError(entry.error) }
    try {
      const outputs: Tensor[] = []
      for (const one of entry.out ?? []) {
        if (!this.#isWanted(active, one[0])) continue
        if (outputs.some(({ name }) => name === one[0])) throw this.#refuseTwice(one[0])
        outputs.push(harvest.take(one))
      }
      return entry.params === undefined ? { outputs } : { outputs, parameters: readParameters(entry.params) }
    } catch (error) {
      // What cannot be held fails its request; what cannot be fails the child.
      if (error instanceof ConchError) return { error }
      throw error
    }
  }

  #isWanted(active: ActiveRequest, name: string): boolean {
    const asked = active.request.outputs
    return asked.length === 0 ? this.#facts.outputs.has(name) : asked.some((output) => output.name === name)
  }

  #refuseTwice(name: string): ConchError {
    const text = `the response has two output tensors named '${name}'`
    return new ConchError(
      'INTERNAL',
      `Failed to process the request(s) for model '${this.#facts.instance}', message: ${text}`,
    )
  }

  #toResponse(active: ActiveRequest, answer: Extract<Answer, { readonly outputs: unknown }>): InferResponse {
    const { model, version } = this.#facts
    const { outputs, parameters = {} } = answer
    return { model, version, id: active.request.id, parameters, outputs }
  }
}

type Answer = Exclude<BatchAnswer, string>
