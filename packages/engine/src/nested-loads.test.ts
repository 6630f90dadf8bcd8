import { expect, it, onTestFinished } from 'vitest'
import { createEngine } from './engine.ts'
import { NestedLoads } from './nested-loads.ts'
import { FakeBackend, fakeConfig, makeDirectory, onlyBackends, testOptions } from './testing.ts'

it('refuses a load that waits for the one that asks for it, and names the chain', async () => {
  const loads = new NestedLoads()
  await expect(loads.waiting('a', 'a', () => Promise.resolve())).rejects.toThrow(
    "loading 'a' would wait for itself: a → a",
  )
  const { promise, resolve } = Promise.withResolvers<void>()
  const first = loads.waiting('a', 'b', () => promise)
  const second = loads.waiting('b', 'c', () => promise)
  await expect(loads.waiting('c', 'a', () => Promise.resolve())).rejects.toThrow('c → a → b → c')
  await expect(loads.waiting('c', 'd', () => Promise.resolve(1))).resolves.toBe(1)
  resolve()
  await Promise.all([first, second])
  await expect(loads.waiting('c', 'a', () => Promise.resolve(2))).resolves.toBe(2)
})

it('knows which models are being made', async () => {
  const loads = new NestedLoads()
  const seen: boolean[] = []
  const look = () => Promise.resolve(void seen.push(loads.isMaking('a')))
  await loads.making('a', () => loads.making('a', look).then(look))
  seen.push(loads.isMaking('a'))
  await expect(loads.making('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect([...seen, loads.isMaking('a')]).toEqual([true, true, false, false])
})

it('loads a model for one that is being loaded, with a single place for loads, and no circles', async () => {
  const files = (name: string) => ({ [`${name}/config.pbtxt`]: fakeConfig(), [`${name}/1/a`]: '' })
  const repository = await makeDirectory({ ...files('outer'), ...files('inner'), ...files('back') })
  onTestFinished(repository.remove)
  const backend = new FakeBackend()
  backend.onLoad = async ({ name }, { engine: calls }) => {
    if (name === 'outer') await calls.load('inner', {})
    if (name === 'back') await calls.load('back', {})
  }
  const options = testOptions([repository.directory], { loadThreads: 1 })
  const engine = createEngine(options, { findBackend: onlyBackends(backend) })
  onTestFinished(async () => void (await engine.stop(1)))
  await engine.start()
  await Promise.all([engine.load('outer'), engine.load('inner')])
  expect([await engine.modelReady('outer', ''), await engine.modelReady('inner', '')]).toEqual([true, true])
  await expect(engine.load('back')).rejects.toThrow("loading 'back' would wait for itself: back → back")
  await engine.load('inner')
})
