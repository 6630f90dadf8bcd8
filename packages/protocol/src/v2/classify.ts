import { encodeBytes } from '../bytes.ts'
import { type Elements, viewElements } from '../elements.ts'
import { ConchError } from '../status.ts'
import { countElements, type Tensor } from '../tensor.ts'
import type { InferRequest } from './request.ts'
import type { InferResponse } from './response.ts'

export interface Classification {
  /** How many classes are wanted; at least 1. */
  readonly k: number
  /** Line i names class i. */
  readonly labels: readonly string[] | undefined
  /** Whether the first dimension is a batch, whose items are ranked apart. */
  readonly batched: boolean
}

const MAX_ELEMENTS = 1_000_000
/** Up to this many classes are kept in a sorted list; beyond, sorting everything is cheaper. */
const MAX_INSERTED = 64

/** The classification extension: replaces scores by `value:index[:label]`, best first (reference: front door §6.5). */
export function classify(tensor: Tensor, wanted: Classification): Tensor {
  const { datatype, shape, name } = tensor
  if (datatype === 'BOOL' || datatype === 'BYTES' || datatype === 'FP16' || datatype === 'BF16') {
    throw new ConchError(
      'INVALID_ARG',
      `class result not available for output due to unsupported type '${datatype}': output '${name}'`,
    )
  }
  const count = countElements(shape)
  if (count > MAX_ELEMENTS) {
    throw new ConchError(
      'INVALID_ARG',
      `classification output tensor too large: output '${name}' has ${count} elements, ${MAX_ELEMENTS} at most`,
    )
  }
  const batch = wanted.batched ? shape[0] : undefined
  const size = batch === undefined ? count : count / Math.max(batch, 1)
  const k = Math.min(wanted.k, size)
  const scores = viewElements(datatype, tensor.data)
  const texts: string[] = []
  for (let from = 0; from < count; from += size) {
    for (const index of rank(scores, { from, size, k }))
      texts.push(formatClass(scores, from, index) + labelOf(wanted, index))
  }
  return { name, datatype: 'BYTES', shape: batch === undefined ? [k] : [batch, k], data: encodeBytes(texts) }
}

/** Applies the classifications a request asked for. Returns the same response when it asked for none. */
export function classifyOutputs(
  response: InferResponse,
  request: InferRequest,
  model: { readonly batched: boolean; labels(output: string): readonly string[] | undefined },
): InferResponse {
  if (!request.outputs.some((output) => output.classification > 0)) return response
  const outputs = response.outputs.map((tensor) => {
    const k = request.outputs.find((output) => output.name === tensor.name)?.classification ?? 0
    return k > 0 ? classify(tensor, { k, labels: model.labels(tensor.name), batched: model.batched }) : tensor
  })
  return { ...response, outputs }
}

/** Indices of the k largest elements, largest first; of equal ones the first; NaN last. */
function rank(scores: Elements, part: { from: number; size: number; k: number }): Iterable<number> {
  const { from, size, k } = part
  if (k > MAX_INSERTED) {
    const order = Uint32Array.from({ length: size }, (_, index) => index)
    order.sort((a, b) => Number(isBefore(scores, from + b, from + a)) - Number(isBefore(scores, from + a, from + b)))
    return order.subarray(0, k)
  }
  const best: number[] = []
  for (let index = 0; index < size; index += 1) {
    if (best.length === k && !isBefore(scores, from + index, from + (best[k - 1] ?? 0))) continue
    if (best.length === k) best.pop()
    best.splice(findPlace(scores, from, { best, index }), 0, index)
  }
  return best
}

function findPlace(scores: Elements, from: number, entry: { best: number[]; index: number }): number {
  let low = 0
  let high = entry.best.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (isBefore(scores, from + entry.index, from + (entry.best[middle] ?? 0))) high = middle
    else low = middle + 1
  }
  return low
}

function isBefore(scores: Elements, a: number, b: number): boolean {
  const left = scores[a] ?? 0
  const right = scores[b] ?? 0
  return left > right || (left === left && right !== right)
}

function formatClass(scores: Elements, from: number, index: number): string {
  const value = scores[from + index] ?? 0
  const isFloat = scores instanceof Float32Array || scores instanceof Float64Array
  return `${isFloat ? formatFixed(Number(value)) : String(value)}:${index}`
}

function labelOf(wanted: Classification, index: number): string {
  const label = wanted.labels?.[index] ?? ''
  return label === '' ? '' : `:${label}`
}

/** As C prints `%f`: six decimals, ties to even, never an exponent. */
export function formatFixed(value: number): string {
  if (Number.isNaN(value)) return 'nan'
  const size = Math.abs(value)
  const sign = value < 0 || Object.is(value, -0) ? '-' : ''
  if (size === Infinity) return `${sign}inf`
  if (size >= 1e21) return `${sign}${BigInt(size)}.000000`
  // Only odd multiples of 1/128 lie exactly between two neighbours; toFixed would round them up.
  const isTie = (size * 128) % 2 === 1
  const floor = Math.floor(size * 1e6)
  if (!isTie || floor % 2 === 1) return sign + size.toFixed(6)
  return `${sign}${Math.floor(floor / 1e6)}.${String(floor % 1e6).padStart(6, '0')}`
}
