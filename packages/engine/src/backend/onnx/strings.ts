import { countElements, encodeBytes, findBytesEnd } from '@conch/protocol'
import { STRING_TYPE } from './element-type.ts'
import { checkStatus, receive, receiveSize } from './env.ts'
import type { Env } from './env.ts'
import type { Pointer } from './library.ts'
import { allocateBlock } from './memory.ts'
import type { Block } from './memory.ts'
import { createOwnedValue, releaseValue } from './ort-value.ts'

/** BYTES elements of one request. */
export interface StringPart {
  readonly data: Uint8Array
  readonly elements: number
}

/**
 * A string tensor of the parts' elements, in order, byte for byte. Elements that a part lacks are empty, those beyond
 * its number are left out: requests were checked before.
 */
export function createStrings(env: Env, shape: readonly number[], parts: readonly StringPart[]): Pointer {
  const value = createOwnedValue(env, { shape, elementType: STRING_TYPE })
  try {
    fillStrings(env, value, parts)
    return value
  } catch (error) {
    releaseValue(env, value)
    throw error
  }
}

/** The library takes texts that end at a zero byte; elements that hold one are written again, with their length. */
function fillStrings(env: Env, value: Pointer, parts: readonly StringPart[]): void {
  const texts = new TextArray(parts)
  if (texts.pointers.length === 0) return
  checkStatus(env.api.FillStringTensor(value, texts.pointers, texts.pointers.length))
  for (const { index, element } of texts.withZero) {
    const target = receive((out) => env.api.GetResizedStringTensorElementBuffer(value, index, element.length, out))
    env.library.fill(target, element)
  }
}

/** The elements of all parts as C strings in one block. */
class TextArray {
  readonly pointers: BigUint64Array
  /** Elements that a C string cannot hold. */
  readonly withZero: { readonly index: number; readonly element: Uint8Array }[] = []
  readonly #block: Block
  #index = 0

  constructor(parts: readonly StringPart[]) {
    const elements = parts.reduce((sum, part) => sum + part.elements, 0)
    this.pointers = new BigUint64Array(new ArrayBuffer(8 * elements))
    this.#block = allocateBlock(parts.reduce((sum, { data }) => sum + data.length + 1, 0))
    let base = 0
    for (const part of parts) {
      this.#add(part, base)
      base += part.data.length + 1
    }
  }

  #add({ data, elements }: StringPart, base: number): void {
    const { bytes } = this.#block
    bytes.set(data, base)
    bytes[base + data.length] = 0
    let at = 0
    for (let left = elements; left > 0; left--) {
      const end = at < data.length ? findBytesEnd(data, at) : -1
      if (end < 0) {
        this.#point(base + data.length)
        continue
      }
      const element = data.subarray(at + 4, end)
      if (element.includes(0)) this.withZero.push({ index: this.#index, element })
      // The first length byte of the next element, which is read from the original: it may become this one's end.
      bytes[base + end] = 0
      this.#point(base + at + 4)
      at = end
    }
  }

  #point(offset: number): void {
    this.pointers[this.#index] = this.#block.address + BigInt(offset)
    this.#index += 1
  }
}

/** The elements of a string tensor as BYTES data. */
export function readStrings({ api }: Env, value: Pointer, shape: readonly number[]): Uint8Array {
  const elements = countElements(shape)
  if (elements === 0) return new Uint8Array(0)
  const size = receiveSize((out) => api.GetStringTensorDataLength(value, out))
  const content = new Uint8Array(new ArrayBuffer(size + 1))
  const offsets = new BigUint64Array(new ArrayBuffer(8 * elements))
  checkStatus(api.GetStringTensorContent(value, content, size, offsets, elements))
  const items = Array.from(offsets, (offset, index) => {
    return content.subarray(Number(offset), index + 1 < elements ? Number(offsets[index + 1]) : size)
  })
  return encodeBytes(items)
}
