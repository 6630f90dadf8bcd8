import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseTrafficPolicy, parseTrafficText, readTrafficPolicy } from './parse-policy.ts'
import { printTrafficPolicy } from './print-policy.ts'

const FULL = {
  labels: { stable: 1, canary: '2' },
  split: { stable: 90, canary: 10 },
  sticky: { header: 'X-User' },
  shadow: { version: 'canary', percent: 5, tolerance: { relative: 0.01 } },
  rollback: { error_percent: 5, latency_ms: 200, mismatch_percent: 1 },
}
const complaints = (value: unknown) =>
  readTrafficPolicy(value).problems.map(({ path, message, fix }) => `${path} | ${message} | ${fix}`)

it('reads a whole policy, labels resolved, defaults filled in', () => {
  const policy = parseTrafficPolicy(FULL)
  expect(policy.split).toEqual([
    { version: '1', name: 'stable', weight: 90 },
    { version: '2', name: 'canary', weight: 10 },
  ])
  expect(policy.sticky).toEqual({ from: 'header', name: 'x-user' })
  expect(policy.shadow).toMatchObject({ version: '2', percent: 5, relative: 0.01, absolute: 0, maxInflight: 8 })
  expect(policy.rollback).toMatchObject({ to: { version: '1' }, windowSeconds: 60, minRequests: 50, errorPercent: 5 })
})

it('reads back what it prints', () => {
  for (const value of [
    FULL,
    {},
    { split: { 3: 100 } },
    { shadow: { version: 2 }, rollback: { mismatch_percent: 0 } },
  ]) {
    const policy = parseTrafficPolicy(value)
    expect(parseTrafficText(printTrafficPolicy(policy))).toEqual(policy)
  }
})

it('tells every problem at once, with its path and what to do', () => {
  expect(
    complaints({
      labels: { '1st': 1, stable: 0.5 },
      split: { nobody: 50, 2: 101, 3: 20, '03': 1 },
      sticky: {},
      rollback: { min_requests: 0 },
      mirror: 1,
    }),
  ).toEqual([
    'mirror | is no field | remove it, or use one of: labels, split, sticky, shadow, rollback, rolled_back',
    'labels.1st | is no label | begin with a letter, then letters, digits, _ . -; 63 characters at most',
    'labels.stable | is 0.5 | write the number of a version',
    'split.2 | is 101 | write percent: a number from 0 to 100 with two decimals at most',
    "split.nobody | names no version (the text 'nobody') | write the number of a version",
    "split.03 | names no version (the text '03') | write the number of a version",
    'sticky | must name one thing | write {"header": "x-user"} or {"parameter": "user"}',
    'rollback.min_requests | is 0 | write a whole number from 1 to 1000000',
    'rollback | has no limit | give it at least one of: error_percent, latency_ms, mismatch_percent',
  ])
})

it('wants weights that sum up to 100, exactly', () => {
  expect(complaints({ split: { 1: 90, 2: 5 } })).toEqual(['split | sums up to 95 | the weights must sum up to 100'])
  expect(complaints({ split: { 1: 99.9, 2: 0.1 } })).toEqual([])
  expect(complaints({ split: { 1: 33.33, 2: 33.33, 3: 33.34 } })).toEqual([])
  expect(complaints({ split: { 1: 33.333, 2: 66.667 } })).toHaveLength(2)
})

it('refuses two names of one version, and a rollback to what is compared', () => {
  expect(complaints({ labels: { a: 1 }, split: { a: 50, 1: 50 } })[0]).toMatch(/^split\.a \| is version 1/)
  const back = { shadow: { version: 2 }, rollback: { to: 2, mismatch_percent: 1 } }
  expect(complaints(back)[0]).toMatch(/^rollback\.to \| is the version that is being compared/)
  expect(complaints({ split: { 1: 100 }, rollback: { mismatch_percent: 1 } })[0]).toMatch(/nothing to compare/)
})

it('tells what is no JSON, and what is none of its own', () => {
  expect(() => parseTrafficText('{ "split": ')).toThrow(/^traffic.json is no JSON: .*; correct it or remove the file$/)
  expect(complaints([])).toEqual([' | is a list | write a JSON object: { … }'])
  expect(complaints({ rolled_back: [{ version: 2 }] })[0]).toMatch(/^rolled_back/)
})

it('never takes a label from the prototype', () => {
  expect(complaints({ split: { constructor: 100 } })[0]).toMatch(/names no version/)
  expect(complaints(JSON.parse('{"labels": {"__proto__": 1}, "split": {"__proto__": 100}}'))).toEqual([])
})

it('throws nothing but its own error, whatever it is given', () => {
  fc.assert(
    fc.property(fc.anything(), (value) => {
      expect(Array.isArray(readTrafficPolicy(value).problems)).toBe(true)
    }),
  )
})
