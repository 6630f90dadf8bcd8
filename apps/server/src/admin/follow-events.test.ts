import { expect, it } from 'vitest'
import { followEvents } from './follow-events.ts'

it('gives events in order, ends with the signal and lets go of its source', async () => {
  const end = new AbortController()
  let push: (event: number) => void = () => undefined
  let stopped = false
  const events = followEvents<number>((next) => {
    push = next
    next(1)
    return () => (stopped = true)
  }, end.signal)
  expect((await events.next()).value).toBe(1)
  const waiting = events.next()
  push(2)
  push(3)
  expect((await waiting).value).toBe(2)
  expect((await events.next()).value).toBe(3)
  const last = events.next()
  end.abort()
  expect(await last).toEqual({ done: true, value: undefined })
  expect(stopped).toBe(true)
})

it('drops the oldest when nobody reads', async () => {
  const end = new AbortController()
  let push: (event: number) => void = () => undefined
  const events = followEvents<number>((next) => {
    push = next
    next(-1)
    return () => undefined
  }, end.signal)
  await events.next()
  for (let i = 0; i < 5000; i += 1) push(i)
  expect((await events.next()).value).toBe(4000)
  end.abort()
})
