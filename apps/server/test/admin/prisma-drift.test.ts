import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url))

function diff(schema: string): Promise<{ code: number; text: string }> {
  const args = ['migrate', 'diff', '--from-migrations', 'prisma/migrations', '--to-schema', schema, '--exit-code']
  const env = {
    ...process.env,
    PRISMA_SCHEMA_ENGINE_BINARY: join(ROOT, 'prisma/schema-engine.mjs'),
    CHECKPOINT_DISABLE: '1',
    PRISMA_HIDE_UPDATE_MESSAGE: '1',
  }
  return new Promise((resolve) => {
    const child = execFile(join(ROOT, 'node_modules/.bin/prisma'), args, { cwd: ROOT, env }, (error, stdout) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : -1, text: stdout }),
    )
    child.stdin?.end()
  })
}

it('the migrations make the schema, and a changed schema is noticed', { timeout: 120_000 }, async () => {
  expect(await diff('prisma/schema.prisma')).toMatchObject({
    code: 0,
    text: expect.stringContaining('No difference detected') as string,
  })
  const folder = await mkdtemp(join(tmpdir(), 'conch-drift-'))
  const text = await readFile(join(ROOT, 'prisma/schema.prisma'), 'utf8')
  await writeFile(
    join(folder, 'schema.prisma'),
    text.replace('passwordHash String', 'passwordHash String\n  email String?'),
  )
  expect(await diff(join(folder, 'schema.prisma'))).toMatchObject({
    code: 2,
    text: expect.stringContaining('email') as string,
  })
  await rm(folder, { recursive: true })
})
