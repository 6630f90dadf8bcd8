import fc from 'fast-check'
import { expect, it } from 'vitest'
import { HpackDecoder, HpackError } from './hpack-decoder.ts'
import { encodeHeaders } from './hpack-encode.ts'
import { decodeHuffman } from './huffman.ts'

const fromHex = (hex: string) =>
  Uint8Array.from(hex.replaceAll(' ', '').match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
const list = (text: string) => text.split('\n').flatMap((line) => line.split(/: (.*)/s).slice(0, 2))

it('decodes the examples of RFC 7541 §C.4 (Huffman, one table for three requests)', () => {
  const decoder = new HpackDecoder(10_000)
  expect(decoder.decode(fromHex('8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff'))).toEqual(
    list(':method: GET\n:scheme: http\n:path: /\n:authority: www.example.com'),
  )
  expect(decoder.decode(fromHex('8286 84be 5886 a8eb 1064 9cbf'))).toEqual(
    list(':method: GET\n:scheme: http\n:path: /\n:authority: www.example.com\ncache-control: no-cache'),
  )
  expect(decoder.decode(fromHex('8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf'))).toEqual(
    list(':method: GET\n:scheme: https\n:path: /index.html\n:authority: www.example.com\ncustom-key: custom-value'),
  )
})

it('evicts as §C.6 does, with a table of 256 bytes', () => {
  const decoder = new HpackDecoder(10_000)
  const resize = '3fe1 01'
  const first =
    '4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3'
  expect(decoder.decode(fromHex(resize + first))).toEqual(
    list(
      ':status: 302\ncache-control: private\ndate: Mon, 21 Oct 2013 20:13:21 GMT\nlocation: https://www.example.com',
    ),
  )
  expect(decoder.decode(fromHex('4883 640e ffc1 c0bf'))).toEqual(
    list(
      ':status: 307\ncache-control: private\ndate: Mon, 21 Oct 2013 20:13:21 GMT\nlocation: https://www.example.com',
    ),
  )
})

it('what is encoded is decoded, by a connection that knows nothing', () => {
  const letters = fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)) })
  fc.assert(
    fc.property(fc.array(fc.tuple(letters, letters)), (pairs) => {
      const headers = [':status', '200', ...pairs.flat()]
      expect(new HpackDecoder(1_000_000).decode(encodeHeaders(headers))).toEqual(headers)
    }),
  )
})

it('a list that is too long is decoded to its end, and left out', () => {
  const decoder = new HpackDecoder(100)
  const long = Uint8Array.from([0x40, 1, 97, 70, ...new Array<number>(70).fill(98)])
  expect(decoder.decode(long)).toBeUndefined()
  expect(decoder.decode(fromHex('7e 01 63'))).toEqual(['a', 'c'])
})

it.each([
  ['index 0', '80'],
  ['an index of no entry', 'be'],
  ['a number that does not end', 'ffffffffffffffff'],
  ['a text that is cut off', '00056162'],
  ['a table that is too large', '3fffff03'],
  ['a table size in the middle', '8820'],
  ['the end mark inside a text', '0084ffffffff00'],
  ['padding of eight bits', '0081ff00'],
])('refuses %s', (_, hex) => {
  expect(() => new HpackDecoder(10_000).decode(fromHex(hex))).toThrow(HpackError)
})

it('never reads past the end, whatever comes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (block) => {
      const text = decodeHuffman(block, 0, block.length)
      return text === undefined || text.length <= block.length * 2
    }),
  )
})
