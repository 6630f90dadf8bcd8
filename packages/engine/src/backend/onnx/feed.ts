import { BYTE_SIZE, ConchError, countElements } from '@conch/protocol'
import type { BatchInput, Tensor } from '@conch/protocol'
import type { ActiveRequest } from '../../request.ts'
import type { Batch } from '../contract.ts'
import { generateBatchInput } from './batch-input.ts'
import type { Env } from './env.ts'
import { addressOf } from './library.ts'
import type { Pointer } from './library.ts'
import { allocateBlock } from './memory.ts'
import { createValue, NO_VALUE, releaseValue } from './ort-value.ts'
import { isSameShape, reshape } from './reshape.ts'
import { createStrings } from './strings.ts'
import type { FeedPlan } from './tensor-plan.ts'

/** From here on a tensor that is aligned is read where it is: two calls cost less than copying it. */
const ZERO_COPY_BYTES = 8_192
/** A block of this size is given up when a batch needs much less. */
const LARGE_BYTES = 1_048_576

/**
 * One input of an instance: memory that requests are gathered in, and the tensor over it. Both are kept for the next
 * batch; a tensor of the same shape costs a copy of its bytes and nothing else.
 */
export class Feed {
  readonly plan: FeedPlan
  /** What the run is given; NO_VALUE = left out. */
  value: Pointer = NO_VALUE
  /** Shape as the model sees it. */
  shape: readonly number[] = []
  /** Of this batch. */
  bytes = 0
  readonly #env: Env
  readonly #width: number
  #block = allocateBlock(0)
  /** Bytes of the block that the value covers; -1 = the value is not over the block. */
  #keptBytes = -1
  #wasPresent = false
  /** Where the tensor was in the last request. */
  #place = 0

  constructor(env: Env, plan: FeedPlan, place: number) {
    this.#env = env
    this.plan = plan
    this.#place = place
    this.#width = BYTE_SIZE[plan.datatype]
  }

  /** Gathers the batch's tensors. Returns whether shape or presence differ from the last batch's. */
  gather(batch: Batch): boolean {
    const { requests } = batch
    const { generated, datatype, optional, name } = this.plan
    if (generated !== undefined) return this.#gatherGenerated(generated, requests)
    const first = requests[0]
    const tensor = first === undefined ? undefined : this.#find(first)
    if (tensor === undefined) {
      if (optional) return this.#leaveOut()
      throw new ConchError('INTERNAL', `input '${name}' is missing`)
    }
    if (datatype === 'BYTES') return this.#gatherStrings(requests, tensor)
    if (requests.length === 1) return this.#gatherOne(tensor)
    return this.#gatherParts(requests.map((request) => this.#require(request)))
  }

  #find({ request }: ActiveRequest): Tensor | undefined {
    const { inputs } = request
    const likely = inputs[this.#place]
    if (likely !== undefined && likely.name === this.plan.name) return likely
    const place = inputs.findIndex(({ name }) => name === this.plan.name)
    if (place >= 0) this.#place = place
    return inputs[place]
  }

  #require(request: ActiveRequest): Tensor {
    const tensor = this.#find(request)
    if (tensor === undefined) throw new ConchError('INTERNAL', `input '${this.plan.name}' is missing`)
    return tensor
  }

  #gatherOne(tensor: Tensor): boolean {
    const { data } = tensor
    const shape = this.#toModelShape(tensor.shape)
    this.bytes = data.byteLength
    if (data.byteLength >= ZERO_COPY_BYTES) {
      const address = addressOf(data)
      if (Number(BigInt.asUintN(3, address)) % this.#width === 0) return this.#lend(address, data.byteLength, shape)
    }
    const changed = this.#prepare(data.byteLength, shape)
    this.#block.bytes.set(data)
    return changed
  }

  /** Joins tensors along the first dimension; ragged ones one behind the other. */
  #gatherParts(tensors: readonly Tensor[]): boolean {
    const parts = tensors.map((tensor) => this.#clip(tensor))
    const size = parts.reduce((sum, part) => sum + part.byteLength, 0)
    this.bytes = size
    const changed = this.#prepare(size, this.#joinShapes(tensors))
    let at = 0
    for (const part of parts) {
      this.#block.bytes.set(part, at)
      at += part.byteLength
    }
    return changed
  }

  /** The bytes that the shape speaks of: a request of zero rows may bring those of one. */
  #clip({ name, shape, data }: Tensor): Uint8Array {
    const size = countElements(shape) * this.#width
    if (data.byteLength < size) {
      throw new ConchError('INVALID_ARG', `buffer too small for input tensor '${name}', ${data.byteLength} < ${size}`)
    }
    return data.byteLength === size ? data : data.subarray(0, size)
  }

  #gatherGenerated(rule: BatchInput, requests: readonly ActiveRequest[]): boolean {
    const { shape, data } = generateBatchInput(rule, requests)
    this.bytes = data.byteLength
    const changed = this.#prepare(data.byteLength, shape)
    this.#block.bytes.set(data)
    return changed
  }

  #gatherStrings(requests: readonly ActiveRequest[], first: Tensor): boolean {
    const tensors = requests.length === 1 ? [first] : requests.map((request) => this.#require(request))
    const shape = requests.length === 1 ? this.#toModelShape(first.shape) : this.#joinShapes(tensors)
    const parts = tensors.map(({ data, shape: own }) => ({ data, elements: countElements(own) }))
    this.bytes = parts.reduce((sum, { data }) => sum + data.length, 0)
    return this.#take(createStrings(this.#env, shape, parts), shape)
  }

  #joinShapes(parts: readonly Pick<Tensor, 'shape'>[]): readonly number[] {
    if (this.plan.ragged) return [parts.reduce((sum, { shape }) => sum + countElements(shape), 0)]
    const [first, ...rest] = parts.map(({ shape }) => this.#toModelShape(shape))
    if (first === undefined) return []
    return [rest.reduce((rows, shape) => rows + (shape[0] ?? 0), first[0] ?? 0), ...first.slice(1)]
  }

  #toModelShape(shape: readonly number[]): readonly number[] {
    const { scalar, ragged, reshape: rule } = this.plan
    if (scalar) return []
    if (ragged) return [countElements(shape)]
    return rule === undefined ? shape : reshape(shape, rule)
  }

  /** Makes the block hold a tensor of this size and shape. */
  #prepare(size: number, shape: readonly number[]): boolean {
    if (size === this.#keptBytes && isSameShape(shape, this.shape)) return false
    this.release()
    const capacity = this.#block.bytes.byteLength
    if (size > capacity || (capacity > LARGE_BYTES && size < capacity / 8)) this.#block = allocateBlock(size)
    const changed = this.#take(this.#create(this.#block.address, size, shape), shape)
    this.#keptBytes = size
    return changed
  }

  /** The tensor is over the request's own bytes; the batch keeps them alive. */
  #lend(address: Pointer, size: number, shape: readonly number[]): boolean {
    return this.#take(this.#create(address, size, shape), shape)
  }

  #create(address: Pointer, size: number, shape: readonly number[]): Pointer {
    return createValue(this.#env, { address, size }, { shape, elementType: this.plan.elementType })
  }

  #take(value: Pointer, shape: readonly number[]): boolean {
    const changed = !this.#wasPresent || !isSameShape(shape, this.shape)
    this.release()
    this.value = value
    this.shape = shape
    this.#wasPresent = true
    return changed
  }

  #leaveOut(): boolean {
    const changed = this.#wasPresent
    this.release()
    this.bytes = 0
    this.shape = []
    this.#wasPresent = false
    return changed
  }

  /** After a run: lets go of what belongs to the batch. The shape stays known. */
  settle(): void {
    if (this.#keptBytes < 0) this.release()
  }

  release(): void {
    releaseValue(this.#env, this.value)
    this.value = NO_VALUE
    this.#keptBytes = -1
  }
}
