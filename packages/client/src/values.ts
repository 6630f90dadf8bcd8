import {
  bfloatToNumber,
  BYTE_SIZE,
  countElements,
  encodeBytes,
  halfToNumber,
  iterateBytes,
  numberToBfloat,
  numberToHalf,
  toBytes,
  viewElements,
  type Datatype,
  type Tensor,
} from '@conch/protocol'
import { ClientError } from './error.ts'

type Numbers = ArrayLike<number>
type Integers = ArrayLike<number | bigint>

/** What an input may be given as, by datatype. An array of the datatype's own type is sent as it lies in memory, others are converted. */
export interface InputValues {
  readonly BOOL: Uint8Array | readonly boolean[]
  readonly UINT8: Numbers
  readonly UINT16: Numbers
  readonly UINT32: Numbers
  readonly UINT64: Integers
  readonly INT8: Numbers
  readonly INT16: Numbers
  readonly INT32: Numbers
  readonly INT64: Integers
  readonly FP16: Numbers
  readonly FP32: Numbers
  readonly FP64: Numbers
  readonly BF16: Numbers
  readonly BYTES: readonly (string | Uint8Array)[]
}

/** What an output is read as: exactly its elements, 64-bit integers as bigint, halves as the numbers they stand for. */
export interface OutputValues {
  readonly BOOL: readonly boolean[]
  readonly UINT8: Uint8Array
  readonly UINT16: Uint16Array
  readonly UINT32: Uint32Array
  readonly UINT64: BigUint64Array
  readonly INT8: Int8Array
  readonly INT16: Int16Array
  readonly INT32: Int32Array
  readonly INT64: BigInt64Array
  readonly FP16: Float32Array
  readonly FP32: Float32Array
  readonly FP64: Float64Array
  readonly BF16: Float32Array
  readonly BYTES: readonly Uint8Array[]
}

const ARRAYS = {
  UINT8: Uint8Array,
  UINT16: Uint16Array,
  UINT32: Uint32Array,
  INT8: Int8Array,
  INT16: Int16Array,
  INT32: Int32Array,
  FP32: Float32Array,
  FP64: Float64Array,
} as const
const FLOATS: ReadonlySet<string> = new Set(['FP32', 'FP64'])

/** The bytes of an input. Refuses what the datatype cannot hold. */
export function encodeValues<D extends Datatype>(datatype: D, values: InputValues[D]): Uint8Array {
  if (datatype === 'BYTES') return encodeBytes(values as InputValues['BYTES'])
  if (datatype === 'BOOL')
    return values instanceof Uint8Array ? values : Uint8Array.from(values as readonly boolean[], Number)
  if (datatype === 'FP16') return toBytes(Uint16Array.from(values as Numbers, numberToHalf))
  if (datatype === 'BF16') return toBytes(Uint16Array.from(values as Numbers, numberToBfloat))
  if (datatype === 'INT64' || datatype === 'UINT64') return encodeWide(datatype, values as Integers)
  return encodeNumbers(datatype as keyof typeof ARRAYS, values as Numbers)
}

function encodeWide(datatype: 'INT64' | 'UINT64', values: Integers): Uint8Array {
  const ArrayType = datatype === 'INT64' ? BigInt64Array : BigUint64Array
  if (values instanceof ArrayType) return toBytes(values)
  const target = new ArrayType(values.length)
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i] ?? 0
    if (typeof value === 'number' && !Number.isSafeInteger(value)) failValue(datatype, value)
    const integer = BigInt(value)
    target[i] = integer
    if (target[i] !== integer) failValue(datatype, integer)
  }
  return toBytes(target)
}

function encodeNumbers(datatype: keyof typeof ARRAYS, values: Numbers): Uint8Array {
  const ArrayType = ARRAYS[datatype]
  if (values instanceof ArrayType) return toBytes(values)
  const target = ArrayType.from(values)
  if (FLOATS.has(datatype)) return toBytes(target)
  for (let i = 0; i < target.length; i += 1) if (target[i] !== values[i]) failValue(datatype, values[i])
  return toBytes(target)
}

function failValue(datatype: Datatype, value: unknown): never {
  throw new ClientError('INVALID_ARG', `${datatype} cannot hold ${String(value)}`)
}

/** The elements of a tensor. Arrays are views on the answer where the alignment allows: never write through them. */
export function readValues<D extends Datatype>(tensor: Tensor, datatype: D): OutputValues[D] {
  const { name, shape, data } = tensor
  if (tensor.datatype !== datatype)
    throw new ClientError('INVALID_ARG', `'${name}' is ${tensor.datatype}, not ${datatype}`)
  const values = decode(datatype, data)
  const count = countElements(shape)
  if (values.length === count && (datatype === 'BYTES' || data.length === count * BYTE_SIZE[datatype]))
    return values as OutputValues[D]
  const text = `'${name}' came with ${values.length} elements, its shape [${shape.join(',')}] says ${count}`
  throw new ClientError('INTERNAL', data.length === 0 ? `${text}; is it in shared memory?` : text)
}

function decode(datatype: Datatype, data: Uint8Array): OutputValues[Datatype] {
  if (datatype === 'BYTES') return [...iterateBytes(data)]
  if (datatype === 'BOOL') return Array.from(data, (byte) => byte !== 0)
  if (datatype === 'FP16') return Float32Array.from(viewElements(datatype, data) as Uint16Array, halfToNumber)
  if (datatype === 'BF16') return Float32Array.from(viewElements(datatype, data) as Uint16Array, bfloatToNumber)
  return viewElements(datatype, data) as OutputValues['UINT8']
}

const decoder = new TextDecoder()

/** The elements of a BYTES tensor as text. */
export function readTexts(tensor: Tensor): string[] {
  return readValues(tensor, 'BYTES').map((bytes) => decoder.decode(bytes))
}
