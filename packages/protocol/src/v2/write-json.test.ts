import { expect, it } from 'vitest'
import { writeJson } from './write-json.ts'

const write = (value: Parameters<typeof writeJson>[0]) => new TextDecoder().decode(writeJson(value))

it('writes plain data compactly, 64-bit counters exactly, and no undefined members', () => {
  expect(
    write({
      name: 'é"',
      count: 18446744073709551615n,
      n: 3,
      d: 0.5,
      ok: true,
      none: null,
      gone: undefined,
      list: [1, [], {}],
    }),
  ).toBe('{"name":"é\\"","count":18446744073709551615,"n":3,"d":0.5,"ok":true,"none":null,"list":[1,[],{}]}')
})

it('replaces lone surrogates and grows as needed', () => {
  expect(write('\ud800')).toBe('"\ufffd"')
  const long = 'x'.repeat(5000)
  expect(write([long, long])).toBe(`["${long}","${long}"]`)
})
