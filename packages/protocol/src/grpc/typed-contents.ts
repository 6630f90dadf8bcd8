import { BYTE_SIZE, type Datatype } from '../datatype.ts'
import { ConchError } from '../status.ts'
import { BYTES, FIXED32, FIXED64, ProtoReader, VARINT } from './reader.ts'

interface List {
  /** What a list in the wrong place is called (reference: gRPC §4.2). */
  readonly datatype: Datatype
  readonly accepts: readonly Datatype[]
  readonly wire: number
}

/** InferTensorContents: field number → list. */
const LISTS: Readonly<Record<number, List>> = {
  1: { datatype: 'BOOL', accepts: ['BOOL'], wire: VARINT },
  2: { datatype: 'INT32', accepts: ['INT8', 'INT16', 'INT32'], wire: VARINT },
  3: { datatype: 'INT64', accepts: ['INT64'], wire: VARINT },
  4: { datatype: 'UINT32', accepts: ['UINT8', 'UINT16', 'UINT32'], wire: VARINT },
  5: { datatype: 'UINT64', accepts: ['UINT64'], wire: VARINT },
  6: { datatype: 'FP32', accepts: ['FP32'], wire: FIXED32 },
  7: { datatype: 'FP64', accepts: ['FP64'], wire: FIXED64 },
  8: { datatype: 'BYTES', accepts: ['BYTES'], wire: BYTES },
}

/** The elements of a typed list as a tensor's data. `name` and `model` are for messages. */
export function readContents(
  contents: Uint8Array,
  input: { readonly name: string; readonly datatype: string },
  model: string,
): Uint8Array {
  const elements = new Elements(BYTE_SIZE[input.datatype as Datatype] || 1, contents.length)
  let used = 0
  const reader = new ProtoReader(contents)
  while (!reader.done) {
    const tag = reader.tag()
    const number = tag >>> 3
    const list = LISTS[number]
    if (list === undefined) {
      reader.skip(tag)
      continue
    }
    const before = elements.size
    readChunk(reader, tag, { list, elements })
    if (elements.size === before) continue
    checkList(list, { used, number }, { ...input, model })
    used = number
  }
  return elements.bytes()
}

function checkList(
  list: List,
  { used, number }: { used: number; number: number },
  input: { name: string; datatype: string; model: string },
): void {
  const { name, datatype, model } = input
  if (!list.accepts.includes(datatype as Datatype)) {
    const text = `unexpected explicit tensor data for input tensor '${name}' for model '${model}' of type '${list.datatype}'`
    throw new ConchError('INVALID_ARG', `${text}, expected datatype '${datatype}'`)
  }
  if (used !== 0 && used !== number) {
    const text = `unexpected explicit tensor data for input tensor '${name}' for model '${model}'`
    throw new ConchError('INVALID_ARG', `${text}, binary data was already supplied.`)
  }
}

/** One element, or a packed run of them. */
function readChunk(reader: ProtoReader, tag: number, { list, elements }: { list: List; elements: Elements }): void {
  const type = tag & 7
  const { wire } = list
  if (wire === BYTES) elements.addText(reader.bytes())
  else if (type === BYTES && wire !== VARINT) elements.add(reader.bytes())
  else if (type === BYTES) readVarints(reader.message(), elements)
  else if (type !== wire) reader.skip(tag)
  else if (wire === VARINT) elements.addInteger(reader)
  else elements.add(viewBytes(wire === FIXED32 ? reader.fixed32() : reader.fixed64()))
}

function readVarints(reader: ProtoReader, elements: Elements): void {
  while (!reader.done) elements.addInteger(reader)
}

function viewBytes(view: DataView): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
}

/** Grows with what was read, never with what was announced. */
class Elements {
  readonly #width: number
  #bytes: Uint8Array
  #view: DataView
  size = 0

  constructor(width: number, expected: number) {
    this.#width = width
    this.#bytes = new Uint8Array(expected)
    this.#view = new DataView(this.#bytes.buffer)
  }

  bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.size)
  }

  add(bytes: Uint8Array): void {
    this.#bytes.set(bytes, this.#reserve(bytes.length))
  }

  addText(bytes: Uint8Array): void {
    const at = this.#reserve(bytes.length + 4)
    this.#view.setUint32(at, bytes.length, true)
    this.#bytes.set(bytes, at + 4)
  }

  /** The low bytes of the value, as many as the datatype has. */
  addInteger(reader: ProtoReader): void {
    const at = this.#reserve(this.#width)
    if (this.#width === 8) this.#view.setBigUint64(at, reader.big(false), true)
    else if (this.#width === 4) this.#view.setInt32(at, reader.int32(), true)
    else if (this.#width === 2) this.#view.setInt16(at, reader.int32(), true)
    else this.#view.setInt8(at, reader.int32())
  }

  #reserve(more: number): number {
    const at = this.size
    this.size += more
    if (this.size > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(this.size, this.#bytes.length * 2))
      grown.set(this.#bytes.subarray(0, at))
      this.#bytes = grown
      this.#view = new DataView(grown.buffer)
    }
    return at
  }
}
