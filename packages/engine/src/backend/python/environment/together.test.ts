import { expect, it } from 'vitest'
import { Together } from './together.ts'

function deferred() {
  return Promise.withResolvers<string>()
}

it('shares one work among those who ask at the same time', async () => {
  const together = new Together<string>()
  const { promise, resolve } = deferred()
  let starts = 0
  const ask = () =>
    together.run('a', undefined, () => {
      starts += 1
      return promise
    })
  const both = Promise.all([ask(), ask()])
  expect(together.has('a')).toBe(true)
  resolve('made')
  expect(await both).toEqual(['made', 'made'])
  expect(starts).toBe(1)
  expect(together.has('a')).toBe(false)
})

it('goes on while somebody waits, and stops with the last one', async () => {
  const together = new Together<string>()
  const [first, second] = [new AbortController(), new AbortController()]
  const stopped = deferred()
  const start = (signal: AbortSignal) =>
    new Promise<string>((_, reject) => {
      signal.addEventListener('abort', () => {
        stopped.resolve('stopped')
        reject(new Error('stopped'))
      })
    })
  const one = together.run('a', first.signal, start)
  const two = together.run('a', second.signal, start)
  first.abort()
  await expect(one).rejects.toThrow('cancelled')
  expect(together.has('a')).toBe(true)
  second.abort()
  expect(together.has('a')).toBe(false)
  await expect(two).rejects.toThrow('stopped')
  expect(await stopped.promise).toBe('stopped')
})

it('starts nothing for who does not wait', async () => {
  const together = new Together<string>()
  await expect(together.run('a', AbortSignal.abort(), () => Promise.resolve('x'))).rejects.toThrow('cancelled')
})
