import { expect, it } from 'vitest'
import { compileHeaderPattern, forwardHeaders, ignoreCase } from './header-forwarding.ts'

const forward = (pattern: string, ...raw: string[]) => {
  const matches = compileHeaderPattern(pattern)
  return matches && forwardHeaders(raw, matches)
}

it('forwards what matches, under the name it came with, in any case and anywhere in the name', () => {
  expect({ ...forward('(x-my.*|X-My.*)', 'X-My-Thing', 'hello', 'Other', 'no') }).toEqual({ 'X-My-Thing': 'hello' })
  expect({ ...forward('THING$', 'X-My-Thing', 'hello') }).toEqual({ 'X-My-Thing': 'hello' })
  expect(forward('nope', 'X-My-Thing', 'hello')).toBeUndefined()
  expect(forward('', 'X', 'y')).toBeUndefined()
})

it('knows classes, ranges and escapes', () => {
  expect(ignoreCase('x[a-f0-9_]\\d[qZ]')).toBe('[xX][a-fA-F0-9_]\\d[qQzZ]')
  expect({ ...forward('^x-[a-f]+\\d$', 'X-BEEF7', '1') }).toEqual({ 'X-BEEF7': '1' })
})

it.each(['sequence_id', 'timeout', 'triton_x'])('refuses to forward %s', (name) => {
  expect(() => forward('.*', name, '1')).toThrow(`Header '${name}' is reserved`)
})

it('takes linear time for an expression that would explode', () => {
  const start = performance.now()
  expect(forward('^(a|a)*b$', 'a'.repeat(20_000), '1')).toBeUndefined()
  expect(performance.now() - start).toBeLessThan(1000)
})

it('refuses what cannot run in linear time, and what is no expression', () => {
  expect(() => compileHeaderPattern('(a)\\1')).toThrow('--http-header-forward-pattern')
  expect(() => compileHeaderPattern('(')).toThrow('--http-header-forward-pattern')
})

it('is not fooled by a header called __proto__', () => {
  expect(Object.keys(forward('.*', '__proto__', 'x') ?? {})).toEqual(['__proto__'])
})
