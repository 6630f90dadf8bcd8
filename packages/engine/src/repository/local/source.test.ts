import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createEngine } from '../../engine.ts'
import { FakeBackend, fakeConfig, makeDirectory, onlyBackends, testOptions } from '../../testing.ts'
import { openLocalSource } from './source.ts'

async function open(files: Readonly<Record<string, string>>) {
  const { directory, remove } = await makeDirectory(files)
  onTestFinished(remove)
  return { directory, source: await openLocalSource(directory, '') }
}

it('lists directories, links to some and links to nothing; neither files nor what is hidden there', async () => {
  const { directory, source } = await open({ 'm/1/a': '', file: '', '.conch/x': '' })
  await symlink('m', join(directory, 'linked'))
  await symlink('nowhere', join(directory, 'lost'))
  await symlink('file', join(directory, 'link-to-file'))
  await symlink('someone@host.42', join(directory, '.#lock'))
  expect(await source.list()).toEqual(['linked', 'lost', 'm'])
  for (const name of ['m', 'linked', 'lost']) expect(await source.has(name)).toBe(true)
  for (const name of ['file', 'link-to-file', '.#lock', '.conch', 'nope', '../m'])
    expect(await source.has(name)).toBe(false)
})

it('tells that a link leads nowhere, in the log, in the index and to whoever loads it', async () => {
  const { directory } = await open({ 'm/config.pbtxt': fakeConfig(), 'm/1/a': '' })
  await symlink('nowhere', join(directory, 'lost'))
  await mkdir(join(directory, 'version'))
  await symlink('../nowhere', join(directory, 'version/1'))
  const options = testOptions([directory], { startupModels: ['*'] })
  const engine = createEngine(options, { findBackend: onlyBackends(new FakeBackend()) })
  onTestFinished(() => void engine.stop())
  await engine.start()
  const why = "'lost' is a symbolic link that leads nowhere"
  expect(await engine.modelReady('m', '')).toBe(true)
  const reasons = Object.fromEntries((await engine.index(false)).map(({ name, reason }) => [name, reason]))
  expect(reasons).toMatchObject({
    lost: expect.stringContaining(why) as string,
    version: expect.stringContaining('failed to open directory 1') as string,
  })
  expect(options.lines.find((line) => line.includes(why))).toMatch(/^error /)
  await expect(engine.load('lost')).rejects.toThrow(why)
})
