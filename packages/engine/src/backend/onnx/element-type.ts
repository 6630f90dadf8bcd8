import type { Datatype } from '@conch/protocol'

/** ONNXTensorElementDataType = TensorProto.DataType: the same numbers in the C API and in the file. */
const TYPES: readonly (readonly [number, string, Datatype | undefined])[] = [
  [1, 'FLOAT', 'FP32'],
  [2, 'UINT8', 'UINT8'],
  [3, 'INT8', 'INT8'],
  [4, 'UINT16', 'UINT16'],
  [5, 'INT16', 'INT16'],
  [6, 'INT32', 'INT32'],
  [7, 'INT64', 'INT64'],
  [8, 'STRING', 'BYTES'],
  [9, 'BOOL', 'BOOL'],
  [10, 'FLOAT16', 'FP16'],
  [11, 'DOUBLE', 'FP64'],
  [12, 'UINT32', 'UINT32'],
  [13, 'UINT64', 'UINT64'],
  [14, 'COMPLEX64', undefined],
  [15, 'COMPLEX128', undefined],
  [16, 'BFLOAT16', 'BF16'],
  [17, 'FLOAT8E4M3FN', undefined],
  [18, 'FLOAT8E4M3FNUZ', undefined],
  [19, 'FLOAT8E5M2', undefined],
  [20, 'FLOAT8E5M2FNUZ', undefined],
  [21, 'UINT4', undefined],
  [22, 'INT4', undefined],
  [23, 'FLOAT4E2M1', undefined],
]

export const STRING_TYPE = 8

const BY_NUMBER = new Map(TYPES.map(([number, name, datatype]) => [number, { name, datatype }]))
const BY_DATATYPE = new Map(TYPES.map(([number, , datatype]) => [datatype, number]))

/** The datatype on the wire; undefined for what cannot travel. */
export function toDatatype(elementType: number): Datatype | undefined {
  return BY_NUMBER.get(elementType)?.datatype
}

/** ONNX's name, as in the original's messages. */
export function nameElementType(elementType: number): string {
  return BY_NUMBER.get(elementType)?.name ?? `UNDEFINED(${elementType})`
}

export function toElementType(datatype: Datatype): number {
  const found = BY_DATATYPE.get(datatype)
  if (found === undefined) throw new RangeError(`no element type for ${datatype}`)
  return found
}
