import { halfToNumber, type Datatype } from '@conch/protocol'
import { printFloat } from './fill.ts'

export interface NpyArray {
  readonly datatype: Datatype
  readonly shape: readonly number[]
  readonly values: readonly string[]
}
interface Kind {
  readonly datatype: Datatype
  readonly size: number
  readonly read: (view: DataView, at: number) => string
}

const KINDS: Readonly<Record<string, Kind>> = {
  b1: { datatype: 'BOOL', size: 1, read: (view, at) => String(view.getUint8(at) !== 0) },
  u1: { datatype: 'UINT8', size: 1, read: (view, at) => String(view.getUint8(at)) },
  u2: { datatype: 'UINT16', size: 2, read: (view, at) => String(view.getUint16(at, true)) },
  u4: { datatype: 'UINT32', size: 4, read: (view, at) => String(view.getUint32(at, true)) },
  u8: { datatype: 'UINT64', size: 8, read: (view, at) => String(view.getBigUint64(at, true)) },
  i1: { datatype: 'INT8', size: 1, read: (view, at) => String(view.getInt8(at)) },
  i2: { datatype: 'INT16', size: 2, read: (view, at) => String(view.getInt16(at, true)) },
  i4: { datatype: 'INT32', size: 4, read: (view, at) => String(view.getInt32(at, true)) },
  i8: { datatype: 'INT64', size: 8, read: (view, at) => String(view.getBigInt64(at, true)) },
  f2: { datatype: 'FP16', size: 2, read: (view, at) => printFloat(halfToNumber(view.getUint16(at, true))) },
  f4: { datatype: 'FP32', size: 4, read: (view, at) => printFloat(view.getFloat32(at, true)) },
  f8: { datatype: 'FP64', size: 8, read: (view, at) => String(view.getFloat64(at, true)) },
}
const MAGIC = '\x93NUMPY'
const MOST_VALUES = 4_000_000

/** Reads a NumPy .npy file (versions 1 to 3). Throws an Error that says why it cannot be used. */
export function parseNpy(bytes: Uint8Array): NpyArray {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (bytes.length < 12 || String.fromCharCode(...bytes.subarray(0, 6)) !== MAGIC)
    throw new Error('This is not a .npy file.')
  const long = (bytes[6] ?? 1) >= 2
  const start = long ? 12 : 10
  const size = long ? view.getUint32(8, true) : view.getUint16(8, true)
  const header = new TextDecoder().decode(bytes.subarray(start, start + size))
  const { kind, shape, fortran } = readHeader(header)
  const count = shape.reduce((product, dim) => product * dim, 1)
  if (count > MOST_VALUES) throw new Error(`${count} values are too many to be sent as JSON.`)
  if (bytes.length - start - size < count * kind.size) throw new Error('The file ends before its last value.')
  const read = (index: number) => kind.read(view, start + size + index * kind.size)
  const values = Array.from({ length: count }, (_, index) => read(fortran ? toFortran(index, shape) : index))
  return { datatype: kind.datatype, shape, values }
}

function readHeader(header: string): { kind: Kind; shape: number[]; fortran: boolean } {
  const descr = /'descr'\s*:\s*'([<>|=])([a-zA-Z]\d+)'/.exec(header)
  const shape = /'shape'\s*:\s*\(([^)]*)\)/.exec(header)
  if (descr === null || shape === null) throw new Error('Its header names no plain datatype and shape.')
  const [, order, code = ''] = descr
  const kind = KINDS[code]
  if (kind === undefined) throw new Error(`Its datatype “${code}” cannot be sent; convert it with .astype first.`)
  if (order === '>' && kind.size > 1) throw new Error('Its numbers are big-endian; save it with .astype("<…") first.')
  const dims = (shape[1] ?? '').split(',').filter((text) => text.trim() !== '')
  return { kind, shape: dims.map(Number), fortran: /'fortran_order'\s*:\s*True/.test(header) }
}

/** The place of a row-major index in a file whose first dimension runs fastest. */
function toFortran(index: number, shape: readonly number[]): number {
  let rest = index
  let place = 0
  const strides: number[] = []
  let stride = 1
  for (const dim of shape) {
    strides.push(stride)
    stride *= dim
  }
  for (let axis = shape.length - 1; axis >= 0; axis -= 1) {
    const dim = shape[axis] ?? 1
    place += (rest % dim) * (strides[axis] ?? 1)
    rest = Math.floor(rest / dim)
  }
  return place
}
