import fc from 'fast-check'
import { expect, it } from 'vitest'
import { compareVersions, isVersion, pickVersions, VersionScanner } from './versions.ts'

it.each(['0', '1', '10', '9223372036854775807'])('%s is a version', (name) => {
  expect(isVersion(name)).toBe(true)
})

it.each(['', '01', '-1', '1.0', '1 ', '3abc', 'abc', '9223372036854775808', '99999999999999999999999'])(
  '%j is no version',
  (name) => {
    expect(isVersion(name)).toBe(false)
  },
)

it('scans in numeric order and warns once per odd name', () => {
  const lines: string[] = []
  const scanner = new VersionScanner({ write: (level, text) => void lines.push(`${level} ${text}`) })
  const folders = ['10', '9', '02', 'model', '.ipynb_checkpoints', 'warmup', 'configs', 'initial_state', '1', '2']
  expect(scanner.scan('m', folders)).toEqual(['1', '2', '9', '10'])
  scanner.scan('m', folders)
  expect(lines).toEqual([
    "warning ignore version directory '02' which contains leading zeros in its directory name",
    "warning ignore version directory 'model' which fails to convert to integral number",
    "warning ignore version directory '.ipynb_checkpoints' which fails to convert to integral number",
  ])
})

it('picks by policy', () => {
  const present = ['1', '2', '9', '10']
  expect(pickVersions(undefined, present)).toEqual(['10'])
  expect(pickVersions({ latest: { num_versions: 2 } }, present)).toEqual(['9', '10'])
  expect(pickVersions({ latest: { num_versions: 0 } }, present)).toEqual([])
  expect(pickVersions({ latest: { num_versions: 9 } }, present)).toEqual(present)
  expect(pickVersions({ all: {} }, present)).toEqual(present)
  expect(pickVersions({ specific: { versions: [9, 7, 1] } }, present)).toEqual(['1', '9'])
})

it('orders decimal texts as numbers', () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 9223372036854775807n), fc.bigInt(0n, 9223372036854775807n), (a, b) => {
      expect(Math.sign(compareVersions(String(a), String(b)))).toBe(a < b ? -1 : a > b ? 1 : 0)
    }),
  )
})
