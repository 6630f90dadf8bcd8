import { ConchError, DATATYPES } from '@conch/protocol'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { decodeEntry, encodeEntry, measureEntry } from './entry.ts'

const output = fc.record({
  name: fc.string({ maxLength: 10, unit: 'grapheme' }),
  datatype: fc.constantFrom(...DATATYPES),
  shape: fc.array(fc.nat({ max: 2 ** 40 }), { maxLength: 4 }),
  data: fc.uint8Array({ maxLength: 100 }),
})

it('gives back what it was given', () => {
  fc.assert(
    fc.property(fc.array(output, { maxLength: 4 }), (outputs) => {
      const entry = encodeEntry(outputs)
      expect(entry.length).toBe(measureEntry(outputs))
      const got = decodeEntry(entry).map((one) => ({ ...one, data: Uint8Array.from(one.data) }))
      expect(got).toEqual(outputs)
    }),
  )
})

it('is as long as the original measures it', () => {
  const data = new Uint8Array(160_000)
  expect(measureEntry([{ name: 'OUTPUT0', datatype: 'FP32', shape: [1, 40_000], data }])).toBe(160_059)
})

it('refuses whatever was cut, lengthened or changed, and never reads outside', () => {
  const entry = encodeEntry([{ name: 'OUT', datatype: 'FP32', shape: [2], data: new Uint8Array(8) }])
  for (let end = 0; end < entry.length; end++) {
    expect(() => decodeEntry(entry.subarray(0, end))).toThrow('encountered incomplete cache result.')
  }
  expect(() => decodeEntry(Buffer.concat([entry, Buffer.alloc(1)]))).toThrow('incomplete')
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      const tried = tryDecode(Buffer.from(bytes))
      expect(Array.isArray(tried) || tried instanceof ConchError).toBe(true)
    }),
  )
})

function tryDecode(entry: Buffer): unknown {
  try {
    return decodeEntry(entry)
  } catch (error) {
    return error
  }
}
