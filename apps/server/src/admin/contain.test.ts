import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { isInside, isPlainName, resolveInside, splitRelative } from './contain.ts'

it.each([
  ['/r/a', '/r/a', true],
  ['/r/a', '/r/a/x', true],
  ['/r/a', '/r/a/../b', false],
  ['/r/a', '/r/a_evil/x', false],
  ['/r/a', '/r', false],
  ['/r/a', '/r/a/..x', true],
  ['/', '/anything', true],
  ['/r/a', '/R/A/x', false],
])('isInside(%j, %j) is %j', (root, path, inside) => {
  expect(isInside(root, path)).toBe(inside)
})

it.each([
  '',
  '/x',
  '../x',
  'a/../b',
  './a',
  'a//b',
  'a/',
  'a\\b',
  'C:/x',
  'c:x',
  'a\0b',
  'a\nb',
  'a'.repeat(256),
  `${'a/'.repeat(3000)}b`,
])('splitRelative refuses %j', (path) => {
  expect(splitRelative(path)).toBeUndefined()
})
it('splitRelative takes ordinary paths, also odd but harmless ones', () => {
  expect(splitRelative('1/model.onnx')).toEqual(['1', 'model.onnx'])
  expect(splitRelative('a b/ü@1..2.txt')).toEqual(['a b', 'ü@1..2.txt'])
})

it('isPlainName refuses what is hidden or no name', () => {
  for (const name of ['', '.', '..', '.conch', 'a/b', 'a\\b', 'a\0'])
    expect([name, isPlainName(name)]).toEqual([name, false])
  for (const name of ['iris', 'a b', '__proto__', 'x@1']) expect(isPlainName(name)).toBe(true)
})

let base: string
beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'conch-contain-'))
  await mkdir(join(base, 'root/sub'), { recursive: true })
  await writeFile(join(base, 'root/sub/file'), 'in')
  await writeFile(join(base, 'outside'), 'out')
  await symlink('sub/file', join(base, 'root/good'))
  await symlink('../outside', join(base, 'root/bad'))
  await symlink('..', join(base, 'root/up'))
})
afterAll(() => rm(base, { recursive: true }))

it('follows links and judges where they end', async () => {
  const root = join(base, 'root')
  expect(await resolveInside(root, 'good')).toBe(join(root, 'sub/file'))
  for (const path of ['bad', 'up/outside', 'missing', 'sub/missing']) {
    await expect(resolveInside(root, path)).rejects.toThrow(`there is no file '${path}'`)
  }
})
