import { expect, it } from 'vitest'
import { canStream, joinAnswers, stopHere, summarise, type StreamAnswer } from './stream.ts'

const answer = (index: number, value: string, response: string | null = `{"n":${index}}`): StreamAnswer => ({
  kind: 'answer',
  index,
  atUs: index * 1000,
  response,
  outputs: [{ name: 'OUT', datatype: 'INT32', shape: [1], stats: null, preview: [value], count: 1 }],
})
const timing = { queueUs: 1, inputUs: 0, inferUs: 2, outputUs: 0, totalUs: 3 }

it('streams what is decoupled and fits through the socket', () => {
  const config = { model_transaction_policy: { decoupled: true } }
  expect(canStream(config, '{}')).toBe(true)
  expect(canStream(config, 'x'.repeat(800_000))).toBe(false)
  expect(canStream({}, '{}')).toBe(false)
})

it('joins answers into one result', () => {
  const result = joinAnswers([answer(0, '7'), answer(1, '8')], { status: 200, timing })
  expect(JSON.parse(result.response ?? '')).toEqual([{ n: 0 }, { n: 1 }])
  expect(result).toMatchObject({ status: 200, outputs: [{ preview: ['8'] }] })
  expect(joinAnswers([answer(0, '7', null)], { status: 200, timing }).response).toBeNull()
  expect(stopHere([answer(0, '7'), answer(1, '8')])).toMatchObject({ status: 499, timing: { totalUs: 1000 } })
})

it('shows the beginning of an answer in a line', () => {
  expect(summarise(answer(0, '7'))).toBe('OUT 7')
})
