import { mkdir, realpath, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { makeDirectory } from '../testing.ts'
import { isInside, isSegment, joinInside, printPath, resolveInside } from './contain.ts'

it.each<[string, string, boolean]>([
  ['/r/a', '/r/a', true],
  ['/r/a', '/r/a/x', true],
  ['/r/a', '/r/a/', true],
  ['/r/a/', '/r/a/x', true],
  ['/r/a', '//r/a/x', true],
  ['/r/a', '/r/a/x/../y', true],
  ['/r/a', '/r/a/..b', true],
  ['/r/a', '/r/a_evil/x', false],
  ['/r/a', '/r/a/../b', false],
  ['/r/a', '/r', false],
  ['/r/a/b', '/r/a', false],
  ['/r/a', '/R/A/x', false],
  ['/', '/anything', true],
  ['/r/a', '/', false],
])('isInside(%s, %s) is %s', (root, path, inside) => {
  expect(isInside(root, path)).toBe(inside)
})

it.each(['', '.', '..', 'a/b', '/etc', 'a\\b', 'a\0b'])('%j is no path segment', (name) => {
  expect(isSegment(name)).toBe(false)
})

it.each(['a', 'a b', '...', '%2e%2e%2fx', 'ü', '-1'])('%j is a path segment', (name) => {
  expect(isSegment(name)).toBe(true)
})

it.each(['', '/etc/hostname', '../x', 'a/../../x', '..', 'a\\..\\x', 'a\0b'])('refuses %j', (written) => {
  expect(() => joinInside('/r/a', written)).toThrow('must be relative and stay within its directory')
})

it('joins what stays inside', () => {
  expect(joinInside('/r/a', '1/model.onnx')).toBe('/r/a/1/model.onnx')
  expect(joinInside('/r/a', 'x/../y')).toBe('/r/a/y')
})

it('follows links inside and refuses links that leave', async () => {
  const { directory, remove } = await makeDirectory({ 'root/real/file': 'x', 'out/secret': 'y' })
  const root = await realpath(join(directory, 'root'))
  await symlink('real/file', join(root, 'good'))
  await symlink('../out/secret', join(root, 'bad'))
  await symlink('../out', join(root, 'folder'))
  await symlink(join(root, 'real'), join(directory, 'out', 'back'))
  expect(await resolveInside(root, root, 'good')).toBe(join(root, 'real/file'))
  await expect(resolveInside(root, root, 'bad')).rejects.toThrow(
    "'bad' is a symbolic link that leaves the model repository",
  )
  await expect(resolveInside(root, root, 'folder/secret')).rejects.toThrow('lies behind a symbolic link that leaves')
  await expect(resolveInside(root, root, 'missing')).rejects.toMatchObject({ code: 'ENOENT' })
  // Outside → inside ends inside, but the way there leaves.
  await mkdir(join(root, 'sub'))
  await writeFile(join(root, 'sub', 'f'), '')
  await expect(resolveInside(root, join(root, 'sub'), '../real/file')).rejects.toThrow('must be relative')
  await remove()
})

it('prints names without control characters', () => {
  expect(printPath('a\n[INFO] b\x1b[31m')).toBe('a?[INFO] b?[31m')
})
