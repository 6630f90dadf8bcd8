import { BYTE_SIZE, type Datatype } from '../datatype.ts'
import { ConchError } from '../status.ts'
import { countElements, type Tensor } from '../tensor.ts'
import type { JsonBuffer } from './json-buffer.ts'
import { formatDouble } from './write-number.ts'

const COMMA = 0x2c

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
  const { data, datatype } = tensor
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  const width = BYTE_SIZE[datatype]
  for (let at = 0; at < data.length; at += width) {
    if (at > 0) out.byte(COMMA)
    out.ascii(formatElement(view, at, datatype))
  }
}

function formatElement(view: DataView, at: number, datatype: Datatype): string {
  switch (datatype) {
    case 'BOOL':
      return view.getUint8(at) === 0 ? 'false' : 'true'
    case 'UINT8':
      return String(view.getUint8(at))
    case 'UINT16':
      return String(view.getUint16(at, true))
    case 'UINT32':
      return String(view.getUint32(at, true))
    case 'UINT64':
      return String(view.getBigUint64(at, true))
    case 'INT8':
      return String(view.getInt8(at))
    case 'INT16':
      return String(view.getInt16(at, true))
    case 'INT32':
      return String(view.getInt32(at, true))
    case 'INT64':
      return String(view.getBigInt64(at, true))
    case 'FP32':
      return formatDouble(view.getFloat32(at, true))
    default:
      return formatDouble(view.getFloat64(at, true))
  }
}

/** Returns the number of strings, -1 when a length runs past the end. */
function writeStrings(out: JsonBuffer, data: Uint8Array): number {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  let at = 0
  let count = 0
  while (at < data.length) {
    const from = at + 4
    if (from > data.length) return -1
    const end = from + view.getUint32(at, true)
    if (end > data.length) return -1
    if (count > 0) out.byte(COMMA)
    out.utf8(data.subarray(from, end))
    count += 1
    at = end
  }
  return count
}
