import { ConchError } from '@conch/protocol'
import { expect, it } from 'vitest'
import { createConfigReader } from '../configs.ts'
import { testOptions } from '../testing.ts'
import { Repository } from './repository.ts'

it('polls a few models at a time, and each of them', async () => {
  const names = Array.from({ length: 100 }, (_, i) => `m${i}`)
  const seen = { now: 0, most: 0, models: new Set<string>() }
  const source = {
    root: '/r',
    name: 'r',
    list: () => Promise.resolve(names),
    has: () => Promise.resolve(true),
    fetch: async (model: string) => {
      seen.models.add(model)
      seen.now += 1
      seen.most = Math.max(seen.most, seen.now)
      await Promise.resolve()
      seen.now -= 1
      throw new ConchError('INVALID_ARG', 'it is broken')
    },
  }
  const options = testOptions(['/r'], { controlMode: 'poll' })
  const builder = {} as never
  const repository = new Repository(options, {
    sources: [source],
    configs: createConfigReader(true),
    builder,
    log: options.log,
  })
  await repository.poll()
  repository.halt()
  expect(seen.models.size).toBe(100)
  expect(seen.most).toBeLessThanOrEqual(16)
})
