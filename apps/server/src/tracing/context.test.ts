import { expect, it } from 'vitest'
import { parseContext, printContext } from './context.ts'

const ID = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'

it.each([
  [`00-${ID}-${SPAN}-01`, true],
  [` 00-${ID}-${SPAN}-00 `, true],
  [`cc-${ID}-${SPAN}-01-what-comes-later`, true],
  [`00-${ID}-${SPAN}-01-more`, false],
  [`ff-${ID}-${SPAN}-01`, false],
  [`00-${ID.toUpperCase()}-${SPAN}-01`, false],
  [`00-${'0'.repeat(32)}-${SPAN}-01`, false],
  [`00-${ID}-${'0'.repeat(16)}-01`, false],
  [`00-${ID}-${SPAN}`, false],
  ['', false],
  [undefined, false],
])('%s is a context: %s', (text, is) => {
  expect(parseContext(text, undefined)).toEqual(is ? { traceId: ID, spanId: SPAN, state: '' } : undefined)
})

it('passes a state on, unless it is too long', () => {
  expect(parseContext(`00-${ID}-${SPAN}-01`, 'a=1')?.state).toBe('a=1')
  expect(parseContext(`00-${ID}-${SPAN}-01`, 'x'.repeat(600))?.state).toBe('')
})

it('prints what a model may continue', () => {
  expect(printContext({ traceId: ID, spanId: SPAN, state: '' })).toBe(`{"traceparent":"00-${ID}-${SPAN}-01"}`)
  expect(JSON.parse(printContext({ traceId: ID, spanId: SPAN, state: 'k="v"' }))).toEqual({
    traceparent: `00-${ID}-${SPAN}-01`,
    tracestate: 'k="v"',
  })
})
