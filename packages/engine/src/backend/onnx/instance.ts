import { ConchError } from '@conch/protocol'
import type { Tensor } from '@conch/protocol'
import type { BackendInstance, Batch, BatchAnswer, BatchAnswers } from '../contract.ts'
import { CStrings } from './c-strings.ts'
import { Feed } from './feed.ts'
import { Fetch } from './fetch.ts'
import { addressOf } from './library.ts'
import type { Pointer } from './library.ts'
import { NO_VALUE } from './ort-value.ts'
import { Pace } from './pace.ts'
import type { RunArguments, Session } from './session.ts'
import { splitOutput } from './split.ts'
import type { FeedPlan, FetchPlan } from './tensor-plan.ts'

export interface InstancePlan {
  readonly feeds: readonly FeedPlan[]
  readonly fetches: readonly FetchPlan[]
  readonly batches: boolean
  /** Whether the size of the inputs bounds what a run can cost. */
  readonly bounded: boolean
}

/** One session with its input and output memory. Runs one batch at a time. */
export class OnnxInstance implements BackendInstance {
  readonly #session: Session
  readonly #batches: boolean
  readonly #feeds: readonly Feed[]
  readonly #fetches: readonly Fetch[]
  readonly #pace: Pace
  readonly #symbols = new Map<string, number>()
  readonly #inputNames: CStrings
  readonly #outputNames: CStrings
  /** What is handed to a run: names and values of the inputs that are there and of the outputs that are wanted. */
  readonly #inputs: Places
  readonly #outputs: Places
  #call: RunArguments
  /** The wanted outputs, and for which set they were chosen. */
  #active: readonly Fetch[]
  #wanted: ReadonlySet<string> | undefined = undefined
  #isArranged = false
  /** What had been foretold in a run that succeeded only without. */
  #foretold: readonly (readonly number[] | undefined)[] | undefined = undefined

  constructor(session: Session, plan: InstancePlan) {
    const { env } = session
    this.#session = session
    this.#batches = plan.batches
    this.#pace = new Pace(plan.bounded)
    this.#feeds = plan.feeds.map((feed, place) => new Feed(env, feed, place))
    this.#fetches = plan.fetches.map((fetch) => new Fetch(env, fetch))
    this.#active = this.#fetches
    this.#inputNames = new CStrings(plan.feeds.map(({ name }) => name))
    this.#outputNames = new CStrings(plan.fetches.map(({ name }) => name))
    this.#inputs = new Places(this.#feeds.length)
    this.#outputs = new Places(this.#fetches.length)
    this.#call = this.#arrange()
  }

  execute(batch: Batch): BatchAnswers | Promise<BatchAnswers> {
    const bytes = this.#gather(batch)
    const started = performance.now()
    batch.computeInputEnd = started
    if (!this.#pace.chooseInline(bytes)) return this.#executeElsewhere(batch, bytes)
    try {
      this.#run()
    } catch (error) {
      this.#pace.failedInline((performance.now() - started) * 1_000)
      this.#settle()
      throw error
    }
    const ended = performance.now()
    batch.computeOutputStart = ended
    this.#pace.ranInline((ended - started) * 1_000, bytes)
    this.#settle()
    return this.#answer(batch)
  }

  async #executeElsewhere(batch: Batch, bytes: number): Promise<BatchAnswers> {
    const { signal } = batch
    const stop = () => this.#session.terminate()
    try {
      if (signal?.aborted === true) throw new ConchError('CANCELLED', '')
      const running = this.#runLater(batch)
      signal?.addEventListener('abort', stop, { once: true })
      await running
    } catch (cause) {
      if (signal?.aborted !== true) throw cause
      throw new ConchError('CANCELLED', '', { cause })
    } finally {
      signal?.removeEventListener('abort', stop)
      batch.computeOutputStart = performance.now()
      this.#settle()
    }
    this.#pace.ranElsewhere((batch.computeOutputStart - batch.computeInputEnd) * 1_000, bytes)
    return this.#answer(batch)
  }

  /** Fills the inputs and prepares the outputs; returns the bytes of all inputs. */
  #gather(batch: Batch): number {
    let changed = this.#choose(batch.outputs) || !this.#isArranged
    let present = 0
    let bytes = 0
    try {
      for (let i = 0; i < this.#feeds.length; i++) {
        const feed = this.#feeds[i]
        if (feed === undefined) continue
        if (feed.gather(batch)) changed = true
        bytes += feed.bytes
        if (feed.value === NO_VALUE) continue
        this.#inputs.put(present, feed.value)
        present += 1
      }
      if (changed) this.#rearrange(present)
      this.#prepare(changed)
    } catch (error) {
      // Some inputs have taken their new shapes already.
      this.#isArranged = false
      this.#settle()
      throw error
    }
    return bytes
  }

  #prepare(changed: boolean): void {
    for (let i = 0; i < this.#active.length; i++) {
      const fetch = this.#active[i]
      if (fetch === undefined) continue
      fetch.prepare(changed, this.#symbols)
      this.#outputs.put(i, fetch.value)
    }
  }

  /** Picks the outputs that somebody wants; a run without outputs is none. */
  #choose(wanted: ReadonlySet<string>): boolean {
    if (wanted === this.#wanted) return false
    this.#wanted = wanted
    const some = this.#fetches.filter(({ plan }) => wanted.has(plan.name))
    const active = some.length === 0 ? this.#fetches : some
    const isSame = active.length === this.#active.length && active.every((fetch, i) => fetch === this.#active[i])
    this.#active = active
    return !isSame
  }

  /** After shapes or presence changed: names in the places of the values, and what the named dimensions are now. */
  #rearrange(present: number): void {
    this.#symbols.clear()
    let place = 0
    for (const [index, feed] of this.#feeds.entries()) {
      if (feed.value === NO_VALUE) continue
      this.#inputs.name(place, this.#inputNames.at(index))
      place += 1
      for (const [axis, symbol] of feed.plan.symbols.entries()) {
        const dim = feed.shape[axis]
        if (symbol !== '' && dim !== undefined) this.#symbols.set(symbol, dim)
      }
    }
    for (const [index, fetch] of this.#active.entries()) {
      this.#outputs.name(index, this.#outputNames.at(this.#fetches.indexOf(fetch)))
    }
    this.#call = this.#arrange(present)
    this.#isArranged = true
  }

  #arrange(present = 0): RunArguments {
    return {
      inputNames: this.#inputs.nameAddress,
      inputs: this.#inputs.valueAddress,
      inputCount: present,
      outputNames: this.#outputs.nameAddress,
      outputs: this.#outputs.valueAddress,
      outputCount: this.#active.length,
    }
  }

  #run(): void {
    try {
      this.#session.run(this.#call)
    } catch (error) {
      const foretold = this.#stopForetelling(error)
      this.#session.run(this.#call)
      this.#foretold = foretold
    }
  }

  async #runLater(batch: Batch): Promise<void> {
    // The session, its memory and the request's bytes stay referenced by this instance and the batch.
    const keep = { instance: this, batch }
    try {
      await this.#session.runLater(this.#call, keep)
    } catch (error) {
      if (batch.signal?.aborted === true) throw error
      const foretold = this.#stopForetelling(error)
      await this.#session.runLater(this.#call, keep)
      this.#foretold = foretold
    }
  }

  /**
   * A model may make other shapes than it declares. When that is why a run failed, prepares it to be repeated with
   * outputs that the library allocates; else throws the error.
   */
  #stopForetelling(error: unknown): readonly (readonly number[] | undefined)[] {
    const isAboutShape = error instanceof ConchError && /shape|mismatch/i.test(error.message)
    if (!isAboutShape || !this.#active.some((fetch) => fetch.isForetold)) throw error
    return this.#active.map((fetch, index) => {
      const { expected } = fetch
      fetch.forget()
      this.#outputs.put(index, NO_VALUE)
      return expected
    })
  }

  #settle(): void {
    for (let i = 0; i < this.#feeds.length; i++) this.#feeds[i]?.settle()
  }

  #answer(batch: Batch): readonly BatchAnswer[] {
    const { requests } = batch
    const parts = this.#takeAll().map(({ plan, made }) => splitOutput(plan, made, { requests, batches: this.#batches }))
    return requests.map((_, index) => answerOne(parts, index))
  }

  #takeAll(): readonly { readonly plan: FetchPlan; readonly made: Pick<Tensor, 'shape' | 'data'> }[] {
    const foretold = this.#foretold
    this.#foretold = undefined
    let taken = 0
    try {
      return this.#active.map((fetch, index) => {
        taken = index + 1
        const made = fetch.take(this.#outputs.value(index))
        if (foretold !== undefined) fetch.compare(foretold[index], made.shape)
        return { plan: fetch.plan, made }
      })
    } catch (error) {
      for (let i = taken; i < this.#active.length; i++) this.#active[i]?.drop(this.#outputs.value(i))
      throw error
    }
  }

  async close(): Promise<void> {
    await this.#session.close()
    for (const feed of this.#feeds) feed.release()
    for (const fetch of this.#fetches) fetch.forget()
  }
}

function answerOne(parts: readonly (readonly (Tensor | ConchError)[])[], index: number): BatchAnswer {
  const outputs: Tensor[] = []
  for (const part of parts) {
    const tensor = part[index]
    if (tensor instanceof ConchError) return { error: tensor }
    if (tensor !== undefined) outputs.push(tensor)
  }
  return { outputs }
}

/** Arrays of names and OrtValues in memory that a run reads. */
class Places {
  readonly nameAddress: Pointer
  readonly valueAddress: Pointer
  readonly #names: BigUint64Array
  readonly #values: BigUint64Array

  constructor(count: number) {
    this.#names = new BigUint64Array(new ArrayBuffer(8 * (count + 1)))
    this.#values = new BigUint64Array(new ArrayBuffer(8 * (count + 1)))
    this.nameAddress = addressOf(this.#names)
    this.valueAddress = addressOf(this.#values)
  }

  name(place: number, name: Pointer): void {
    this.#names[place] = name
  }

  put(place: number, value: Pointer): void {
    this.#values[place] = value
  }

  value(place: number): Pointer {
    return this.#values[place] ?? NO_VALUE
  }
}
