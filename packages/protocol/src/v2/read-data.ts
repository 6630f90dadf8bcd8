import type { Datatype } from '../datatype.ts'
import type { DataReader } from './data-reader.ts'
import { FloatReader } from './read-floats.ts'
import { IntegerReader } from './read-integers.ts'
import { BoolReader, StringReader } from './read-values.ts'

export interface ReadData {
  readonly bytes: Uint8Array
  /** Position behind the closing bracket. */
  readonly end: number
}

/** What `data` is read into. */
export interface DataTarget {
  readonly datatype: Datatype
  /** Number of elements the shape asks for; not checked for BYTES. */
  readonly count: number
}

/**
 * Reads the `data` array at `at`; undefined unless everything about it is right. The size of what is allocated is
 * bounded by the text: an element takes at least two bytes of it.
 */
export function readData(s: Uint8Array, at: number, target: DataTarget): ReadData | undefined {
  if (target.datatype === 'BYTES') {
    const strings = new StringReader(s, 16 + 8 * Math.min(target.count, (s.length - at) >> 1))
    const end = strings.read(at)
    return end < 0 ? undefined : { bytes: strings.data, end }
  }
  if (target.count * 2 > s.length - at) return undefined
  const memory = createMemory(target)
  if (memory === undefined) return undefined
  const end = createReader(s, target.datatype, memory).read(at)
  return end < 0 ? undefined : { bytes: new Uint8Array(memory.buffer), end }
}

type Memory =
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array
  | Float32Array
  | Float64Array

const MEMORY = {
  BOOL: Uint8Array,
  INT8: Int8Array,
  INT16: Int16Array,
  INT32: Int32Array,
  INT64: BigInt64Array,
  UINT8: Uint8Array,
  UINT16: Uint16Array,
  UINT32: Uint32Array,
  UINT64: BigUint64Array,
  FP32: Float32Array,
  FP64: Float64Array,
} as const

/** Undefined for the datatypes that JSON cannot carry. */
function createMemory(target: DataTarget): Memory | undefined {
  const { datatype, count } = target
  if (datatype === 'FP16' || datatype === 'BF16' || datatype === 'BYTES') return undefined
  return new MEMORY[datatype](count)
}

function createReader(s: Uint8Array, datatype: Datatype, memory: Memory): DataReader {
  if (memory instanceof Float32Array || memory instanceof Float64Array) return new FloatReader(s, memory)
  if (datatype === 'BOOL') return new BoolReader(s, memory as Uint8Array)
  return new IntegerReader(s, memory)
}
