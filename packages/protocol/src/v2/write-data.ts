import { findBytesEnd } from '../bytes.ts'
import { BYTE_SIZE } from '../datatype.ts'
import { type Elements, viewElements } from '../elements.ts'
import { ConchError } from '../status.ts'
import { countElements, type Tensor } from '../tensor.ts'
import type { JsonBuffer } from './json-buffer.ts'
import { MAX_NUMBER_SIZE, putDouble, putInteger } from './write-number.ts'

const COMMA = 0x2c
const MINUS = 0x2d
/** Numbers for which room is made at a time. */
const CHUNK = 1024

/** Writes the elements of a tensor as a flat JSON array. */
export function writeData(out: JsonBuffer, tensor: Tensor): void {
  out.byte(0x5b)
  writeElements(out, tensor)
  out.byte(0x5d)
}

/** Writes the elements of a tensor with commas between them. */
export function writeElements(out: JsonBuffer, tensor: Tensor): void {
  const { datatype, name, data } = tensor
  if (datatype === 'FP16' || datatype === 'BF16') {
    throw new ConchError(
      'INVALID_ARG',
      `sending ${datatype} data via JSON is not supported. Please use the binary data format for output`,
    )
  }
  const count = countElements(tensor.shape)
  if (datatype === 'BYTES') {
    if (writeStrings(out, data) !== count) failSize(name)
  } else {
    if (count * BYTE_SIZE[datatype] !== data.length) failSize(name)
    writeNumbers(out, tensor)
  }
}

function failSize(name: string): never {
  throw new ConchError(
    'INTERNAL',
    `Failed to write 'data' field: output tensor shape does not match size of output for '${name}'`,
  )
}

function writeNumbers(out: JsonBuffer, tensor: Tensor): void {
  const { datatype, data } = tensor
  const elements = viewElements(datatype, data)
  if (elements instanceof BigInt64Array || elements instanceof BigUint64Array) writeWide(out, elements)
  else if (datatype === 'FP32' || datatype === 'FP64') writeDoubles(out, elements)
  else if (datatype === 'BOOL') writeBooleans(out, data)
  else writeIntegers(out, elements)
}

function writeDoubles(out: JsonBuffer, elements: Exclude<Elements, BigInt64Array | BigUint64Array>): void {
  for (let i = 0; i < elements.length; i += 1) {
    if (i % CHUNK === 0) out.reserve((MAX_NUMBER_SIZE + 1) * Math.min(CHUNK, elements.length - i))
    if (i > 0) out.bytes[out.size++] = COMMA
    putDouble(out, elements[i] as number)
  }
}

function writeIntegers(out: JsonBuffer, elements: Exclude<Elements, BigInt64Array | BigUint64Array>): void {
  for (let i = 0; i < elements.length; i += 1) {
    if (i % CHUNK === 0) out.reserve((MAX_NUMBER_SIZE + 1) * Math.min(CHUNK, elements.length - i))
    if (i > 0) out.bytes[out.size++] = COMMA
    const value = elements[i] as number
    if (value < 0) out.bytes[out.size++] = MINUS
    const size = Math.abs(value)
    if (size < 2 ** 31) putInteger(out, size)
    else out.ascii(String(size))
  }
}

function writeWide(out: JsonBuffer, elements: BigInt64Array | BigUint64Array): void {
  const words = new Uint32Array(elements.buffer, elements.byteOffset, elements.length * 2)
  const signed = elements instanceof BigInt64Array
  for (let i = 0; i < elements.length; i += 1) {
    if (i % CHUNK === 0) out.reserve((MAX_NUMBER_SIZE + 1) * Math.min(CHUNK, elements.length - i))
    if (i > 0) out.bytes[out.size++] = COMMA
    const low = words[i * 2] as number
    const high = words[i * 2 + 1] as number
    // Small values, positive or (sign-extended) negative, need no bigint.
    if (high === 0 && low < 2 ** 31) putInteger(out, low)
    else if (signed && high === 0xffffffff && low > 2 ** 31) {
      out.bytes[out.size++] = MINUS
      putInteger(out, 2 ** 32 - low)
    } else out.ascii(String(elements[i]))
  }
}

function writeBooleans(out: JsonBuffer, data: Uint8Array): void {
  for (let i = 0; i < data.length; i += 1) {
    if (i > 0) out.byte(COMMA)
    out.ascii(data[i] === 0 ? 'false' : 'true')
  }
}

/** Returns the number of strings, -1 when a length runs past the end. */
function writeStrings(out: JsonBuffer, data: Uint8Array): number {
  let at = 0
  let count = 0
  while (at < data.length) {
    const end = findBytesEnd(data, at)
    if (end < 0) return -1
    if (count > 0) out.byte(COMMA)
    out.utf8(data.subarray(at + 4, end))
    count += 1
    at = end
  }
  return count
}
