import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseJson, type JsonValue } from './json-value.ts'

const read = (text: string) => parseJson(new TextEncoder().encode(text))

/** What JSON.parse would say, integers aside. */
function plain(value: JsonValue): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (Array.isArray(value)) return value.map((item: JsonValue) => plain(item))
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, plain(v as JsonValue)]))
  return value
}

it('reads what JSON.parse reads', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5 }), (text) => {
      expect(plain(read(text))).toEqual(plain(JSON.parse(text) as JsonValue))
    }),
  )
})

it('keeps integers exact, takes the words for non-finite numbers, and the first of equal names', () => {
  expect(read('[9007199254740993,-1,1.0,NaN,-Infinity]')).toEqual([9007199254740993n, -1n, 1, Number.NaN, -Infinity])
  expect(read('{"a":1,"a":2,"b":[[],{}]}')).toEqual(
    Object.assign(Object.create(null), { a: 1n, b: [[], Object.create(null)] }),
  )
})

it('treats __proto__ as a name', () => {
  const value = read('{"__proto__":{"polluted":true}}')
  expect(Object.keys(value as object)).toEqual(['__proto__'])
  expect('polluted' in {}).toBe(false)
})

it.each([
  ['', 'The document is empty. at 0'],
  ['{', 'Missing a name for object member. at 1'],
  ['{}{}', 'The document root must not be followed by other values. at 2'],
  ['[1,]', 'Invalid value. at 3'],
])('refuses %j', (text, reason) => {
  expect(() => read(text)).toThrow(`failed to parse the request JSON buffer: ${reason}`)
})

it('stops at 100 levels, and survives a hundred thousand', () => {
  expect(() => read(`${'['.repeat(100)}1${']'.repeat(100)}`)).not.toThrow()
  expect(() => read(`${'['.repeat(101)}1${']'.repeat(101)}`)).toThrow('nesting depth')
  expect(() => read('['.repeat(100_000) + ']'.repeat(100_000))).toThrow('nesting depth')
})

it('holds at most a hundred thousand values', () => {
  expect(read(`[${'1,'.repeat(99_998)}1]`)).toHaveLength(99_999)
  expect(() => read(`[${'1,'.repeat(99_999)}1]`)).toThrow('JSON holds more than 100000 values')
})
