const encoder = new TextEncoder()
const FIRST_SIZE = 256

/** Writes protobuf's wire format. Messages inside messages are written in place; their length is put in front when they end. */
export class ProtoWriter {
  #bytes = new Uint8Array(FIRST_SIZE)
  #view = new DataView(this.#bytes.buffer)
  #size = 0

  /** What was written, as a view: the writer must not be used again. */
  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#size)
  }

  tag(number: number, type: number): void {
    this.varint(number * 8 + type)
  }

  /** An unsigned number up to 2^53. */
  varint(value: number): void {
    this.#reserve(8)
    let left = value
    while (left >= 0x80) {
      this.#bytes[this.#size++] = (left % 128) | 0x80
      left = Math.floor(left / 128)
    }
    this.#bytes[this.#size++] = left
  }

  /** 64 bits; negative values take ten bytes, as protobuf's int64 does. */
  big(value: bigint): void {
    this.#reserve(10)
    let left = BigInt.asUintN(64, value)
    while (left >= 0x80n) {
      this.#bytes[this.#size++] = Number(left & 0x7fn) | 0x80
      left >>= 7n
    }
    this.#bytes[this.#size++] = Number(left)
  }

  int64(value: number | bigint): void {
    if (typeof value === 'number' && value >= 0 && Number.isSafeInteger(value)) this.varint(value)
    else this.big(BigInt(value))
  }

  /** 64 bits, always eight bytes. */
  fixed64(value: bigint): void {
    this.#reserve(8)
    this.#view.setBigUint64(this.#size, value, true)
    this.#size += 8
  }

  float(value: number): void {
    this.#reserve(4)
    this.#view.setFloat32(this.#size, value, true)
    this.#size += 4
  }

  double(value: number): void {
    this.#reserve(8)
    this.#view.setFloat64(this.#size, value, true)
    this.#size += 8
  }

  /** Length and text. */
  string(value: string): void {
    this.#reserve(value.length * 3 + 5)
    // A text of up to 42 letters has a length of one byte, whatever the letters are.
    const start = this.#size + (value.length <= 42 ? 1 : 5)
    const { written } = encoder.encodeInto(value, this.#bytes.subarray(start))
    this.varint(written)
    if (this.#size !== start) this.#bytes.copyWithin(this.#size, start, start + written)
    this.#size += written
  }

  /** Length and bytes. */
  bytes(value: Uint8Array): void {
    this.varint(value.length)
    this.#reserve(value.length)
    this.#bytes.set(value, this.#size)
    this.#size += value.length
  }

  /** Begins a message inside this one; give what it returns to `end`. */
  begin(number: number): number {
    this.tag(number, 2)
    this.#reserve(1)
    this.#size += 1
    return this.#size
  }

  end(start: number): void {
    const size = this.#size - start
    let width = 1
    for (let left = size; left >= 128; left = Math.floor(left / 128)) width += 1
    this.#reserve(width)
    if (width > 1) this.#bytes.copyWithin(start - 1 + width, start, this.#size)
    this.#size = start - 1
    this.varint(size)
    this.#size += size
  }

  #reserve(more: number): void {
    const needed = this.#size + more
    if (needed <= this.#bytes.length) return
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2))
    grown.set(this.#bytes.subarray(0, this.#size))
    this.#bytes = grown
    this.#view = new DataView(grown.buffer)
  }
}
