import { countElements, encodeBytes, findBytesEnd } from '@conch/protocol'
import { STRING_TYPE } from './element-type.ts'
import { checkStatus, receive, receiveSize } from './env.ts'
import type { Env } from './env.ts'
import type { Pointer } from './library.ts'
import { allocateBlock } from './memory.ts'
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
  const elements = parts.reduce((sum, part) => sum + part.elements, 0)
  if (elements === 0) return
  const size = parts.reduce((sum, part) => sum + part.data.length + 1, 0)
  const { bytes, address } = allocateBlock(size)
  const pointers = new BigUint64Array(new ArrayBuffer(8 * elements))
  const withZero: [index: number, element: Uint8Array][] = []
  let index = 0
  let base = 0
  for (const { data, elements: count } of parts) {
    bytes.set(data, base)
    const behind = base + data.length
    bytes[behind] = 0
    let at = 0
    for (let left = count; left > 0; left--) {
      const end = at < data.length ? findBytesEnd(data, at) : -1
      // The first length byte of the next element has been read: it may become this one's end.
      if (end >= 0) bytes[base + end] = 0
      const start = end < 0 ? behind : base + at + 4
      pointers[index] = address + BigInt(start)
      if (end >= 0) {
        const element = data.subarray(at + 4, end)
        if (element.includes(0)) withZero.push([index, element])
        at = end
      }
      index += 1
    }
    base = behind + 1
  }
  checkStatus(env.api.FillStringTensor(value, pointers, elements))
  for (const [place, element] of withZero) {
    const target = receive((out) => env.api.GetResizedStringTensorElementBuffer(value, place, element.length, out))
    env.library.fill(target, element)
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
