import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it } from 'vitest'
import { listFiles, readText, root } from './repository.ts'

const CLIENT = 'apps/server/src/admin/gen'

it('the Prisma client is the one that its schema gives', { timeout: 60_000 }, () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'conch-prisma-'))
  try {
    mkdirSync(path.join(folder, 'prisma'))
    writeFileSync(path.join(folder, 'prisma/schema.prisma'), readText('prisma/schema.prisma'))
    execFileSync('prisma', ['generate', `--schema=${path.join(folder, 'prisma/schema.prisma')}`], {
      cwd: root,
      stdio: 'pipe',
      // Any file there keeps the command line from downloading an engine; generating needs none.
      env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: path.join(root, 'package.json'), CHECKPOINT_DISABLE: '1' },
    })
    const files = listFiles(CLIENT)
    expect(files.length).toBeGreaterThan(5)
    const different = files.filter((file) => readText(file) !== readFileSync(path.join(folder, file), 'utf8'))
    expect(different).toEqual([])
  } finally {
    rmSync(folder, { recursive: true })
  }
})
