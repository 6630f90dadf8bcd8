import { ConchError } from '@conch/protocol'
import { expect, it, vi } from 'vitest'
import { createConfigReader } from '../configs.ts'
import type { ServedVersion } from './contract.ts'
import { Poller } from './polled.ts'
import { Reading } from './reading.ts'
import { Registry } from './registry.ts'

it('notes why one model cannot be read without listing all the others', async () => {
  const log = { verbose: 0, write: vi.fn<(level: string, text: string) => void>() }
  const list = vi.fn<() => Promise<string[]>>(() => Promise.resolve(['m', 'n']))
  const broken = () => Promise.reject(new ConchError('INVALID_ARG', 'it is broken'))
  const source = { root: '/r', name: 'r', list, has: (model: string) => Promise.resolve(model === 'm'), fetch: broken }
  const poller = new Poller({ sources: [source], configs: createConfigReader(true), log })
  const registry = new Registry<ServedVersion>(false)
  const reading = new Reading({ poller, registry, log, polls: false })
  await expect(reading.find('m')).rejects.toThrow('failed to poll from model repository: it is broken')
  expect(registry.get('m', '/r')?.pollError).toBe('it is broken')
  await expect(reading.find('other')).rejects.toThrow('it is broken')
  expect(registry.get('other', '/r')).toBeUndefined()
  expect(list).not.toHaveBeenCalled()
})
