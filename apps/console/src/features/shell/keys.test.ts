import { expect, it } from 'vitest'
import { makeKeyReader, type KeyPress } from './keys.ts'

const press = (key: string, rest: Partial<KeyPress> = {}): KeyPress => ({
  key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  typing: false,
  at: 0,
  ...rest,
})
const letters = { m: '/models', l: '/live' }

it('jumps after g and a letter', () => {
  const read = makeKeyReader(letters)
  expect(read(press('g'))).toBeUndefined()
  expect(read(press('l', { at: 300 }))).toEqual({ go: '/live' })
  expect(read(press('m', { at: 400 }))).toBeUndefined()
})

it('forgets a g that was long ago or followed by another key', () => {
  const read = makeKeyReader(letters)
  read(press('g'))
  expect(read(press('m', { at: 5000 }))).toBeUndefined()
  read(press('g', { at: 6000 }))
  read(press('x', { at: 6100 }))
  expect(read(press('m', { at: 6200 }))).toBeUndefined()
})

it('leaves letters to text fields, but not Ctrl+K', () => {
  const read = makeKeyReader(letters)
  expect(read(press('?', { typing: true }))).toBeUndefined()
  expect(read(press('/', { typing: true }))).toBeUndefined()
  expect(read(press('k', { typing: true, ctrlKey: true }))).toBe('palette')
  expect(read(press('K', { metaKey: true }))).toBe('palette')
  expect(read(press('/'))).toBe('search')
})
