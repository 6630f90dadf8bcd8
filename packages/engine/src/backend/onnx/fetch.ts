import { BYTE_SIZE, ConchError, countElements } from '@conch/protocol'
import type { Tensor } from '@conch/protocol'
import type { Env } from './env.ts'
import type { Pointer } from './library.ts'
import { allocateBlock } from './memory.ts'
import type { Block } from './memory.ts'
import { copyElements, createValue, NO_VALUE, readShape, releaseValue } from './ort-value.ts'
import { isSameShape } from './reshape.ts'
import { readStrings } from './strings.ts'
import type { FetchPlan } from './tensor-plan.ts'

/** Up to here an output is copied out of memory that is used again; larger ones get memory of their own each time. */
const COPIED_BYTES = 65_536
/** What is larger than that is the library's to allocate: it fails in its own words. */
const LARGEST_BYTES = 4 * 2 ** 30
const EMPTY = allocateBlock(0)

/**
 * One output of an instance. Where its shape can be foretold, the model writes into memory of ours; elsewhere the
 * library allocates, and the elements are copied out before that memory is released. What is handed out is never
 * written to again and needs no release: no view can dangle.
 */
export class Fetch {
  readonly plan: FetchPlan
  /** What the run is given; NO_VALUE asks the library to allocate. */
  value: Pointer = NO_VALUE
  readonly #env: Env
  readonly #width: number
  /** The shape that `value` has; undefined = the library decides. */
  #expected: readonly number[] | undefined = undefined
  #block: Block = EMPTY
  /** The block outlives the run, and with it the value. */
  #isKept = false
  /** Its shape differed from what was foretold: it depends on the data. */
  #isDynamic = false
  /** Shape at the last run, as long as the inputs' shapes stay the same. */
  #lastShape: readonly number[] | undefined = undefined

  constructor(env: Env, plan: FetchPlan) {
    this.#env = env
    this.plan = plan
    this.#width = BYTE_SIZE[plan.datatype]
  }

  /**
   * Before a run. `changed`: the inputs have other shapes than in the last run; `symbols`: what the model's named
   * dimensions are in this one.
   */
  prepare(changed: boolean, symbols: ReadonlyMap<string, number>): void {
    if (changed) this.#lastShape = undefined
    else if (this.#isKept) return
    const shape = this.#foretell(symbols)
    if (shape === undefined) this.forget()
    else if (changed || this.value === NO_VALUE) this.#bind(shape)
  }

  #foretell(symbols: ReadonlyMap<string, number>): readonly number[] | undefined {
    const { dims, symbols: names } = this.plan
    if (this.#width === 0 || this.#isDynamic) return undefined
    if (this.#lastShape !== undefined || dims === undefined) return this.#lastShape
    const shape: number[] = []
    for (const [index, dim] of dims.entries()) {
      const known = dim >= 0 ? dim : symbols.get(names[index] ?? '')
      if (known === undefined) return undefined
      shape.push(known)
    }
    return countElements(shape) * this.#width > LARGEST_BYTES ? undefined : shape
  }

  #bind(shape: readonly number[]): void {
    this.forget()
    const size = countElements(shape) * this.#width
    this.#isKept = size <= COPIED_BYTES
    this.#block = allocateBlock(size)
    this.#expected = shape
    const memory = { address: this.#block.address, size }
    this.value = createValue(this.#env, memory, { shape, elementType: this.plan.elementType })
  }

  get isForetold(): boolean {
    return this.#expected !== undefined
  }

  /** Lets the library allocate in the next run. */
  forget(): void {
    if (this.#expected !== undefined) releaseValue(this.#env, this.value)
    this.value = NO_VALUE
    this.#expected = undefined
    this.#block = EMPTY
    this.#isKept = false
  }

  /** After a run: what the model gave, in its own shape. `value` is what stands in the output's place now. */
  take(value: Pointer): Pick<Tensor, 'shape' | 'data'> {
    const shape = this.#expected
    if (shape === undefined) return this.#takeFromLibrary(value)
    this.#lastShape = shape
    if (this.#isKept) return { shape, data: copyBlock(this.#block.bytes) }
    const data = this.#block.bytes
    this.forget()
    return { shape, data }
  }

  #takeFromLibrary(value: Pointer): Pick<Tensor, 'shape' | 'data'> {
    if (value === NO_VALUE) throw new ConchError('INTERNAL', `output tensor '${this.plan.name}' is not found`)
    try {
      const shape = readShape(this.#env, value)
      this.#lastShape = shape
      const data =
        this.#width === 0
          ? readStrings(this.#env, value, shape)
          : copyElements(this.#env, value, countElements(shape) * this.#width)
      return { shape, data }
    } finally {
      releaseValue(this.#env, value)
    }
  }

  /** Instead of `take`. */
  drop(value: Pointer): void {
    if (this.#expected === undefined) releaseValue(this.#env, value)
  }

  /** The run failed with the foretold shape and succeeded without; `was` is what had been foretold. */
  compare(was: readonly number[] | undefined, is: readonly number[]): void {
    if (was !== undefined && !isSameShape(was, is)) this.#isDynamic = true
  }

  get expected(): readonly number[] | undefined {
    return this.#expected
  }
}

/** Small outputs share a pool's memory. */
function copyBlock(bytes: Uint8Array): Uint8Array {
  const copy = Buffer.allocUnsafe(bytes.byteLength)
  copy.set(bytes)
  return copy
}
