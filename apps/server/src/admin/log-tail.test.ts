import { expect, it } from 'vitest'
import { createLogTail } from './log-tail.ts'

it('keeps the lines of a quiet model while others write much', () => {
  const tail = createLogTail(() => 5)
  tail.write({ level: 'info', text: 'hello', about: { model: 'quiet', version: '2' } })
  for (let i = 0; i < 5000; i += 1) tail.write({ level: 'info', text: `${i}`, about: { model: 'loud', version: '1' } })
  expect(tail.recentOf('quiet')).toEqual([{ id: 1, at: 5, level: 'info', text: 'hello', model: 'quiet', version: '2' }])
  expect(tail.recentOf('loud').map(({ text }) => text)).toEqual(Array.from({ length: 300 }, (_, i) => `${4700 + i}`))
  expect(tail.recent(9999)).toHaveLength(1000)
})

it('forgets the model that was silent longest when there are too many', () => {
  const tail = createLogTail()
  for (let i = 0; i < 300; i += 1) tail.write({ level: 'info', text: 'x', about: { model: `m${i}`, version: '1' } })
  expect(tail.recentOf('m99')).toEqual([])
  expect(tail.recentOf('m100')).toHaveLength(1)
})
