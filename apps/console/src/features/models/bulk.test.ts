import { expect, it } from 'vitest'
import { countBulk, runBulk, startBulk } from './bulk.ts'

const nothing = () => {}

it('works on three at a time and keeps the order of the list', async () => {
  let now = 0
  let most = 0
  const work = async () => {
    now += 1
    most = Math.max(most, now)
    await Promise.resolve()
    now -= 1
    return null
  }
  const run = await runBulk(startBulk('load', ['a', 'b', 'c', 'd', 'e']), {
    work,
    onChange: nothing,
    signal: new AbortController().signal,
  })
  expect(most).toBe(3)
  expect(run.items.map((item) => item.state)).toEqual(['done', 'done', 'done', 'done', 'done'])
  expect(countBulk(run)).toEqual({ finished: 5, failed: 0, total: 5, over: true })
})

it('keeps the reason of what failed and goes on', async () => {
  const run = await runBulk(startBulk('reload', ['a', 'b']), {
    work: (model) => Promise.resolve(model === 'a' ? 'no such file' : null),
    onChange: nothing,
    signal: new AbortController().signal,
  })
  expect(run.items[0]).toEqual({ model: 'a', state: 'failed', reason: 'no such file' })
  expect(countBulk(run).failed).toBe(1)
})

it('skips what has not begun when it is stopped', async () => {
  const stop = new AbortController()
  const run = await runBulk(startBulk('unload', ['a', 'b', 'c', 'd']), {
    work: () => {
      stop.abort()
      return Promise.resolve(null)
    },
    onChange: nothing,
    signal: stop.signal,
  })
  expect(run.items.map((item) => item.state)).toEqual(['done', 'skipped', 'skipped', 'skipped'])
})
