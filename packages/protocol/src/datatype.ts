/** The datatypes of KServe v2, as written on the wire (reference: front door §6.1). */
export type Datatype =
  | 'BOOL'
  | 'UINT8'
  | 'UINT16'
  | 'UINT32'
  | 'UINT64'
  | 'INT8'
  | 'INT16'
  | 'INT32'
  | 'INT64'
  | 'FP16'
  | 'FP32'
  | 'FP64'
  | 'BF16'
  | 'BYTES'

/** Bytes of one element; 0 for BYTES, whose elements carry their own 4-byte little-endian length. */
export const BYTE_SIZE: Readonly<Record<Datatype, number>> = {
  BOOL: 1,
  UINT8: 1,
  UINT16: 2,
  UINT32: 4,
  UINT64: 8,
  INT8: 1,
  INT16: 2,
  INT32: 4,
  INT64: 8,
  FP16: 2,
  FP32: 4,
  FP64: 8,
  BF16: 2,
  BYTES: 0,
}

export const DATATYPES = Object.keys(BYTE_SIZE) as readonly Datatype[]

export function isDatatype(text: string): text is Datatype {
  return Object.hasOwn(BYTE_SIZE, text)
}
