import {
  bfloatToNumber,
  countElements,
  halfToNumber,
  numberToBfloat,
  numberToHalf,
  type Datatype,
  type Tensor,
} from '@conch/protocol'

/** A tensor as numbers (or big ones), by position. */
export interface Elements {
  readonly length: number
  /** Undefined for BYTES. */
  readonly at: ((i: number) => number | bigint) | undefined
  readonly text: (i: number) => string
}

export function readElements(tensor: Tensor): Elements {
  const { datatype, data } = tensor
  const length = countElements(tensor.shape)
  if (datatype === 'BYTES') {
    const texts = readTexts(data, PREVIEW)
    return { length, at: undefined, text: (i) => texts[i] ?? '' }
  }
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  const read = READERS[datatype]
  const print = PRINTERS[datatype] ?? String
  return { length, at: (i) => read(view, i), text: (i) => print(Number(read(view, i)), read(view, i)) }
}

/** Elements of BYTES beyond this are not looked at. */
export const PREVIEW = 1000
/** Characters of one BYTES element that are shown. */
const TEXT = 2000

/** UTF-8 where it is; other bytes as hexadecimal. */
function readTexts(data: Uint8Array, count: number): readonly string[] {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  const texts: string[] = []
  for (let at = 0; at + 4 <= data.byteLength && texts.length < count;) {
    const size = view.getUint32(at, true)
    texts.push(showBytes(data.subarray(at + 4, at + 4 + size)))
    at += 4 + size
  }
  return texts
}

function showBytes(bytes: Uint8Array): string {
  const head = bytes.subarray(0, TEXT)
  const rest = bytes.byteLength > TEXT ? '…' : ''
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: rest !== '' }) + rest
  } catch {
    return `0x${Buffer.from(head).toString('hex')}${rest}`
  }
}

type Reader = (view: DataView, i: number) => number | bigint

const READERS: Readonly<Record<Exclude<Datatype, 'BYTES'>, Reader>> = {
  BOOL: (view, i) => view.getUint8(i),
  UINT8: (view, i) => view.getUint8(i),
  UINT16: (view, i) => view.getUint16(i * 2, true),
  UINT32: (view, i) => view.getUint32(i * 4, true),
  UINT64: (view, i) => view.getBigUint64(i * 8, true),
  INT8: (view, i) => view.getInt8(i),
  INT16: (view, i) => view.getInt16(i * 2, true),
  INT32: (view, i) => view.getInt32(i * 4, true),
  INT64: (view, i) => view.getBigInt64(i * 8, true),
  FP16: (view, i) => halfToNumber(view.getUint16(i * 2, true)),
  FP32: (view, i) => view.getFloat32(i * 4, true),
  FP64: (view, i) => view.getFloat64(i * 8, true),
  BF16: (view, i) => bfloatToNumber(view.getUint16(i * 2, true)),
}

type Printer = (value: number, exact: number | bigint) => string

const PRINTERS: Readonly<Partial<Record<Datatype, Printer>>> = {
  BOOL: (value) => (value === 0 ? 'false' : 'true'),
  UINT64: (_value, exact) => exact.toString(),
  INT64: (_value, exact) => exact.toString(),
  FP16: (value) => shortest(value, (text) => halfToNumber(numberToHalf(Number(text))) === value),
  FP32: (value) => shortest(value, (text) => Math.fround(Number(text)) === value),
  BF16: (value) => shortest(value, (text) => bfloatToNumber(numberToBfloat(Number(text))) === value),
}

/** The fewest digits that read back as the same number of its own width. */
function shortest(value: number, same: (text: string) => boolean): string {
  if (!Number.isFinite(value) || Number.isInteger(value)) return Object.is(value, -0) ? '-0' : String(value)
  for (let digits = 1; digits < 10; digits += 1) {
    const text = String(Number(value.toPrecision(digits)))
    if (same(text)) return text
  }
  return String(value)
}
