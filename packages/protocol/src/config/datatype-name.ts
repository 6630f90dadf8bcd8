import type { Datatype } from '../datatype.ts'
import { isDatatype } from '../datatype.ts'
import type { ConfigDatatype } from './schema.ts'

/** `TYPE_FP32` → `FP32`, `TYPE_STRING` → `BYTES`; undefined for TYPE_INVALID and what is no type. */
export function toProtocolDatatype(type: string): Datatype | undefined {
  if (type === 'TYPE_STRING') return 'BYTES'
  const name = type.startsWith('TYPE_') ? type.slice(5) : ''
  return isDatatype(name) && name !== 'BYTES' ? name : undefined
}

/** `FP32` → `TYPE_FP32`, `BYTES` → `TYPE_STRING`. */
export function toConfigDatatype(datatype: Datatype): ConfigDatatype {
  return datatype === 'BYTES' ? 'TYPE_STRING' : `TYPE_${datatype}`
}
