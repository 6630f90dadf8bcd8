import { expect, it } from 'vitest'
import { describeVersions, sortVersions } from './versions.ts'

const row = (version: string) => ({ version, state: 'READY' as const, reason: '' })

it('shows the newest first and counts the rest', () => {
  const { text, title } = describeVersions(['1', '2', '10', '9'].map(row))
  expect(text).toBe('10, 9, 2 +1')
  expect(title.split('\n')[0]).toBe('10: Ready')
  expect(describeVersions([]).text).toBe('–')
})

it('orders versions beyond the exact numbers', () => {
  expect(sortVersions(['9007199254740993', '9007199254740992', '7'].map(row)).map((each) => each.version)).toEqual([
    '9007199254740993',
    '9007199254740992',
    '7',
  ])
})
