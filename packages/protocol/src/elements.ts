import { BYTE_SIZE, type Datatype } from './datatype.ts'

/** Elements of any fixed-width datatype; FP16 and BF16 appear as their 16-bit patterns, BOOL as bytes. */
export type Elements =
  | Uint8Array
  | Uint16Array
  | Uint32Array
  | BigUint64Array
  | Int8Array
  | Int16Array
  | Int32Array
  | BigInt64Array
  | Float32Array
  | Float64Array

const ARRAYS = {
  BOOL: Uint8Array,
  UINT8: Uint8Array,
  UINT16: Uint16Array,
  UINT32: Uint32Array,
  UINT64: BigUint64Array,
  INT8: Int8Array,
  INT16: Int16Array,
  INT32: Int32Array,
  INT64: BigInt64Array,
  FP16: Uint16Array,
  BF16: Uint16Array,
  FP32: Float32Array,
  FP64: Float64Array,
  BYTES: Uint8Array,
} as const

/**
 * The bytes as a typed array. A view where the alignment allows, else a copy: never write through it.
 * Bytes that do not fill an element are left out. BYTES come back as they are.
 */
export function viewElements(datatype: Datatype, data: Uint8Array): Elements {
  const ArrayType = ARRAYS[datatype]
  const width = BYTE_SIZE[datatype] || 1
  // Not `slice`: that of a Node Buffer does not copy.
  const aligned = data.byteOffset % width === 0 ? data : new Uint8Array(data)
  return new ArrayType(aligned.buffer as ArrayBuffer, aligned.byteOffset, Math.floor(aligned.byteLength / width))
}

/** The bytes of a typed array, without copying. */
export function toBytes(elements: ArrayBufferView): Uint8Array {
  return new Uint8Array(elements.buffer, elements.byteOffset, elements.byteLength)
}
