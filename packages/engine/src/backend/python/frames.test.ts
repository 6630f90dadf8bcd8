import fc from 'fast-check'
import { expect, it } from 'vitest'
import { FrameReader } from './frame-reader.ts'
import { alignPart, FrameWriter } from './frame-writer.ts'
import { readParameters, toError, toErrorEntry } from './frames.ts'
import { encodeParameters } from './encode-request.ts'

const frame = fc.record({
  header: fc.dictionary(fc.string({ unit: 'binary' }), fc.oneof(fc.integer(), fc.string({ unit: 'binary' }))),
  parts: fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 4 }),
})

it('reads what was written, wherever it is torn', () => {
  fc.assert(
    fc.property(fc.array(frame), fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }), (frames, cuts) => {
      const writer = new FrameWriter()
      for (const { header, parts } of frames) writer.add(JSON.stringify(header), parts)
      const bytes = Buffer.from(writer.take())
      const read: { header: object; payload: Buffer }[] = []
      const reader = new FrameReader((header, payload) => void read.push({ header, payload: Buffer.from(payload) }))
      let at = 0
      for (let i = 0; at < bytes.length; i++) {
        const end = at + (cuts[i % cuts.length] ?? 1)
        // As from a socket: the memory is used again for the next piece.
        reader.push(Buffer.from(bytes.subarray(at, end)))
        at = end
      }
      expect(read.map(({ header }) => header)).toEqual(
        frames.map(({ header }) => JSON.parse(JSON.stringify(header)) as object),
      )
      for (const [i, { parts }] of frames.entries()) {
        let start = 0
        for (const part of parts) {
          start = alignPart(start)
          expect(read[i]?.payload.subarray(start, start + part.length)).toEqual(Buffer.from(part))
          start += part.length
        }
      }
    }),
  )
})

it('starts payloads at a multiple of 8', () => {
  const writer = new FrameWriter()
  for (const header of ['{}', '{"a":1}', '{"ä":1}', '{"a":12345}']) {
    writer.add(header, [Uint8Array.of(1, 2, 3)])
    const bytes = writer.take()
    expect((8 + bytes.readUInt32LE(4)) % 8).toBe(0)
    expect(bytes.readUInt32LE(0)).toBe(bytes.length - 4)
  }
})

it.each([
  ['a length beyond the limit', [0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0], 'impossible lengths'],
  ['a header longer than its frame', [8, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0], 'impossible lengths'],
  ['no JSON', [6, 0, 0, 0, 2, 0, 0, 0, 0x7b, 0x7b], 'JSON'],
  ['no object', [5, 0, 0, 0, 1, 0, 0, 0, 0x31], 'no object'],
])('refuses %s', (_, bytes, message) => {
  const reader = new FrameReader(() => undefined)
  expect(() => reader.push(Buffer.from(bytes))).toThrow(message)
})

it('keeps parameters exact both ways', () => {
  const parameters = { a: 9_007_199_254_740_993n, b: 'x"y', c: true, d: 1.5, e: 2 }
  const text = JSON.parse(encodeParameters(parameters)) as string
  expect(text).toBe('{"a":9007199254740993,"b":"x\\"y","c":true,"d":1.5,"e":2.0}')
  expect(readParameters(text)).toEqual({ ...parameters })
  expect(() => readParameters('[1]')).toThrow('no object')
})

it('knows codes by their names', () => {
  expect(toError(['CANCELLED', 'no'])).toMatchObject({ code: 'CANCELLED', message: 'no' })
  expect(toError(['OTHER', 'no'])).toMatchObject({ code: 'INTERNAL' })
  expect(toErrorEntry(new Error('x'))).toEqual(['INTERNAL', 'x'])
})
