import { execFileSync } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { copyVerified, replaceFile } from '../../src/admin/write-file.ts'

/** A small disk of its own, where one may be mounted. */
let base: string
let mounted = false
beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'conch-full-'))
  try {
    execFileSync('/usr/bin/mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', base], { stdio: 'pipe' })
    mounted = true
  } catch {
    mounted = false
  }
})
afterAll(async () => {
  if (mounted) execFileSync('/usr/bin/umount', [base])
  await rm(base, { recursive: true, force: true })
})

it('keeps the old file and leaves no part of a new one on a full disk', async ({ skip }) => {
  if (!mounted) skip('this machine lets nobody mount a small disk')
  await writeFile(join(base, 'config.pbtxt'), 'old')
  const full = {
    code: 'UNAVAILABLE',
    message: expect.stringMatching(/^the disk is full; nothing was changed/) as string,
  }
  await expect(replaceFile(join(base, 'config.pbtxt'), Buffer.alloc(3_000_000), base)).rejects.toMatchObject(full)
  expect(await readFile(join(base, 'config.pbtxt'), 'utf8')).toBe('old')
  expect(await readdir(base)).toEqual(['config.pbtxt'])
  const big = await mkdtemp(join(tmpdir(), 'conch-big-'))
  await writeFile(join(big, 'model.onnx'), Buffer.alloc(3_000_000))
  await expect(copyVerified(join(big, 'model.onnx'), join(base, 'work/1/model.onnx'))).rejects.toMatchObject(full)
  await rm(big, { recursive: true })
})
