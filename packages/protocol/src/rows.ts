import { findBytesEnd } from './bytes.ts'
import { BYTE_SIZE } from './datatype.ts'
import { ConchError } from './status.ts'
import type { Tensor } from './tensor.ts'

/** Rows `from` … `from + count - 1` of a batch, as a view. The first dimension is the batch. */
export function sliceRows(tensor: Tensor, from: number, count: number): Tensor {
  const rows = tensor.shape[0] ?? 0
  const shape = [count, ...tensor.shape.slice(1)]
  if (from === 0 && count === rows) return tensor
  if (tensor.datatype !== 'BYTES') {
    const size = rows === 0 ? 0 : tensor.data.length / rows
    return { ...tensor, shape, data: tensor.data.subarray(from * size, (from + count) * size) }
  }
  let perRow = 1
  for (const dim of tensor.shape.slice(1)) perRow *= dim
  const start = skipElements(tensor, 0, from * perRow)
  return { ...tensor, shape, data: tensor.data.subarray(start, skipElements(tensor, start, count * perRow)) }
}

function skipElements(tensor: Tensor, at: number, count: number): number {
  for (let left = count; left > 0; left -= 1) {
    at = findBytesEnd(tensor.data, at)
    if (at < 0)
      throw new ConchError(
        'INTERNAL',
        `tensor '${tensor.name}' holds fewer strings than its shape [${tensor.shape.join(',')}] says`,
      )
  }
  return at
}

/** One tensor of all rows, in order. Copies, except for a single tensor. */
export function concatRows(tensors: readonly Tensor[]): Tensor {
  const [first] = tensors
  if (first === undefined) throw new ConchError('INTERNAL', 'cannot join zero tensors')
  if (tensors.length === 1) return first
  const data = new Uint8Array(tensors.reduce((size, tensor) => size + tensor.data.length, 0))
  let rows = 0
  let at = 0
  for (const tensor of tensors) {
    data.set(tensor.data, at)
    at += tensor.data.length
    rows += tensor.shape[0] ?? 0
  }
  return { ...first, shape: [rows, ...first.shape.slice(1)], data }
}

/** Bytes that a tensor of this shape takes; undefined for BYTES, whose elements tell themselves. */
export function expectedByteSize(tensor: Pick<Tensor, 'datatype' | 'shape'>): number | undefined {
  if (tensor.datatype === 'BYTES') return undefined
  return tensor.shape.reduce((count, dim) => count * dim, 1) * BYTE_SIZE[tensor.datatype]
}
