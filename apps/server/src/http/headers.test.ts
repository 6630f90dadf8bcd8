import { expect, it } from 'vitest'
import { chooseEncoding, findHeader, readDigits, readHeaders, readLength } from './headers.ts'

it('finds headers in any case and keeps the first', () => {
  const raw = ['HOST', 'x', 'content-LENGTH', '5', 'Inference-Header-Content-Length', '3', 'Content-Length', '7']
  expect(readHeaders(raw)).toMatchObject({ contentLength: '5', inferenceLength: '3', acceptEncoding: undefined })
  expect(findHeader(raw, 'Host')).toBe('x')
  expect(findHeader(raw, 'nope')).toBeUndefined()
})

it.each([
  [undefined, 'identity'],
  ['gzip', 'gzip'],
  ['deflate', 'deflate'],
  ['gzip, deflate', 'gzip'],
  ['gzip;q=0.1, deflate;q=0.9', 'deflate'],
  ['br, identity', 'identity'],
  ['*', 'identity'],
  ['gzip;q=0', 'identity'],
  ['identity;q=0.5, gzip;q=0.5', 'identity'],
  ['gzip;q=x', 'identity'],
] as const)('answers Accept-Encoding %s with %s', (accept, encoding) => {
  expect(chooseEncoding(accept)).toBe(encoding)
})

it.each([
  ['0', 0],
  ['372', 372],
  ['9007199254740991', 9007199254740991],
  ['', -1],
  ['-1', -1],
  ['1e3', -1],
  [' 1', -1],
] as const)('reads the digits of %j as %d', (text, value) => {
  expect(readDigits(text)).toBe(value)
  expect(readLength(text)).toBe(Number(text))
})
