import { ConchError, isDatatype } from '@conch/protocol'
import type { Tensor } from '@conch/protocol'

/**
 * How a response is laid out where it leaves the process (cache §7): u32 number of outputs; per output u64 size of what
 * follows, u32 length and name, u32 length and datatype, u32 length and int64 dimensions, u64 length and data; all little
 * endian.
 */
export function measureEntry(outputs: readonly Tensor[]): number {
  let bytes = 4
  for (const output of outputs) bytes += 8 + measureOutput(output)
  return bytes
}

function measureOutput({ name, datatype, shape, data }: Tensor): number {
  return 4 + Buffer.byteLength(name) + 4 + datatype.length + 4 + 8 * shape.length + 8 + data.byteLength
}

export function encodeEntry(outputs: readonly Tensor[]): Buffer {
  const entry = Buffer.allocUnsafe(measureEntry(outputs))
  let at = entry.writeUInt32LE(outputs.length)
  for (const output of outputs) {
    const { name, datatype, shape, data } = output
    at = entry.writeBigUInt64LE(BigInt(measureOutput(output)), at)
    for (const text of [name, datatype]) {
      at = entry.writeUInt32LE(Buffer.byteLength(text), at)
      at += entry.write(text, at)
    }
    at = entry.writeUInt32LE(8 * shape.length, at)
    for (const dim of shape) at = entry.writeBigInt64LE(BigInt(dim), at)
    at = entry.writeBigUInt64LE(BigInt(data.byteLength), at)
    entry.set(data, at)
    at += data.byteLength
  }
  return entry
}

/** Throws for whatever `encodeEntry` did not write. Data are views on `entry`. */
export function decodeEntry(entry: Buffer): readonly Tensor[] {
  try {
    const reader = new EntryReader(entry)
    const outputs: Tensor[] = []
    const count = reader.u32()
    for (let i = 0; i < count; i++) {
      reader.u64()
      const [name, datatype] = [reader.bytes(reader.u32()).toString(), reader.bytes(reader.u32()).toString()]
      const dims = reader.bytes(reader.u32())
      const shape = Array.from({ length: dims.length / 8 }, (_, dim) => Number(dims.readBigInt64LE(8 * dim)))
      if (!isDatatype(datatype)) throw new RangeError(`unknown datatype '${datatype}'`)
      outputs.push({ name, datatype, shape, data: reader.bytes(reader.u64()) })
    }
    if (!reader.done) throw new RangeError('bytes are left over')
    return outputs
  } catch (cause) {
    throw new ConchError('INTERNAL', 'encountered incomplete cache result.', { cause })
  }
}

class EntryReader {
  readonly #entry: Buffer
  #at = 0

  constructor(entry: Buffer) {
    this.#entry = entry
  }

  get done(): boolean {
    return this.#at === this.#entry.length
  }

  u32(): number {
    const value = this.#entry.readUInt32LE(this.#at)
    this.#at += 4
    return value
  }

  u64(): number {
    const value = this.#entry.readBigUInt64LE(this.#at)
    this.#at += 8
    return Number(value)
  }

  bytes(length: number): Buffer {
    if (this.#at + length > this.#entry.length) throw new RangeError('too short')
    this.#at += length
    return this.#entry.subarray(this.#at - length, this.#at)
  }
}
