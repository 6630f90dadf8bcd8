import { type Pickled, readPickle } from './read-pickle.ts'

/** A tensor of a checkpoint, elements row-major. */
export interface Weights {
  readonly shape: readonly number[]
  readonly values: Float32Array
}

interface Slice {
  readonly storage: string
  readonly offset: number
  readonly shape: readonly number[]
  readonly strides: readonly number[]
}

/**
 * Reads the FP32 tensors of a PyTorch checkpoint in its old, unzipped form: five pickles (magic number, version,
 * system, state, keys), then for each key the number of elements and the elements. Other tensors are left out.
 */
export function readCheckpoint(bytes: Buffer): Map<string, Weights> {
  let at = 0
  const next = (): Pickled => {
    const { value, end } = readPickle(bytes, at)
    at = end
    return value
  }
  if (next() !== 0x1950a86a20f9469cfc6cn) throw new Error('this is not a PyTorch checkpoint of the old form')
  next()
  next()
  const state = next()
  const keys = next()
  if (!(state instanceof Map) || !Array.isArray(keys)) throw new Error('the checkpoint holds no named tensors')
  const slices = new Map<string, Slice>()
  const widths = new Map<string, number>()
  for (const [name, value] of state) {
    const slice = readSlice(value, widths)
    if (slice !== undefined && typeof name === 'string') slices.set(name, slice)
  }
  const storages = new Map<string, Buffer>()
  for (const key of keys) {
    if (typeof key !== 'string') throw new Error('the checkpoint names a storage by something other than text')
    const count = Number(bytes.readBigInt64LE(at))
    const width = widths.get(key) ?? 8
    storages.set(key, bytes.subarray(at + 8, at + 8 + count * width))
    at += 8 + count * width
  }
  return new Map([...slices].map(([name, slice]) => [name, copySlice(slice, storages)]))
}

/** Notes the width of every storage; answers FP32 slices. */
function readSlice(value: Pickled, widths: Map<string, number>): Slice | undefined {
  if (typeof value !== 'object' || value === null || !('call' in value)) return undefined
  const [storage, offset, shape, strides] = value.args as Pickled[]
  if (typeof storage !== 'object' || storage === null || !('persistent' in storage)) return undefined
  const [, type, key] = storage.persistent as [Pickled, { name: string }, string]
  const isFloat = type.name === 'torch.FloatStorage'
  widths.set(key, isFloat ? 4 : 8)
  if (!isFloat) return undefined
  return { storage: key, offset: Number(offset), shape: shape as number[], strides: strides as number[] }
}

/** Gathers a slice into row-major order: convolution weights are often stored transposed. */
function copySlice(slice: Slice, storages: ReadonlyMap<string, Buffer>): Weights {
  const storage = storages.get(slice.storage)
  if (storage === undefined) throw new Error(`the checkpoint lacks the storage ${slice.storage}`)
  const { shape, strides } = slice
  const values = new Float32Array(shape.reduce((count, dim) => count * dim, 1))
  const index = shape.map(() => 0)
  for (let i = 0; i < values.length; i += 1) {
    const element = index.reduce((at, n, axis) => at + n * (strides[axis] ?? 0), slice.offset)
    values[i] = storage.readFloatLE(element * 4)
    for (let axis = shape.length - 1; axis >= 0; axis -= 1) {
      index[axis] = (index[axis] ?? 0) + 1
      if ((index[axis] ?? 0) < (shape[axis] ?? 0)) break
      index[axis] = 0
    }
  }
  return { shape, values }
}
