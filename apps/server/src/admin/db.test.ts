import { mkdtemp, readFile, rm, writeFile, mkdir, cp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PrismaBetterSqlite3 } from '@prisma/adapter-better-sqlite3'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openDatabase } from './db.ts'
import { migrate } from './db-migrate.ts'

const MIGRATIONS = fileURLToPath(new URL('../../../../prisma/migrations', import.meta.url))
const lost: string[] = []
let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'conch-db-'))
})
afterEach(() => rm(directory, { recursive: true, force: true }))

const adapter = () => new PrismaBetterSqlite3({ url: `file:${join(directory, 'conch.db')}` })
async function run(sql: string): Promise<unknown[][]> {
  const connection = await adapter().connect()
  const { rows } = await connection.queryRaw({ sql, args: [], argTypes: [] })
  await connection.dispose()
  return rows
}

it('migrates once, as Prisma itself would have', async () => {
  const first = await migrate(adapter())
  expect(first.length).toBeGreaterThan(0)
  expect(await migrate(adapter())).toEqual([])
  const rows = await run(
    'SELECT migration_name, applied_steps_count, length(checksum), finished_at IS NOT NULL FROM _prisma_migrations',
  )
  expect(rows.map(([name, steps, length, done]) => [name, Number(steps), Number(length), Number(done)])).toEqual(
    first.map((name) => [name, 1, 64, 1]),
  )
})

it('leaves nothing of a migration that fails, and tells which', async () => {
  const folder = join(directory, 'migrations')
  await cp(MIGRATIONS, folder, { recursive: true })
  await mkdir(join(folder, '29990101000000_broken'))
  await writeFile(
    join(folder, '29990101000000_broken', 'migration.sql'),
    'CREATE TABLE "Half" ("id" TEXT);\nCREATE TABLE nonsense nonsense;',
  )
  await expect(migrate(adapter(), folder)).rejects.toThrow(
    "migration '29990101000000_broken' of the console's database failed",
  )
  expect(await run("SELECT name FROM sqlite_master WHERE name = 'Half'")).toEqual([])
  expect(await migrate(adapter())).toEqual([])
})

it('does not touch a database of a newer version, an unfinished or a rewritten one', async () => {
  await migrate(adapter())
  const set = async (sql: string) => {
    const connection = await adapter().connect()
    await connection.executeScript(sql)
    await connection.dispose()
  }
  await set("UPDATE _prisma_migrations SET checksum = 'x'")
  await expect(migrate(adapter())).rejects.toThrow('was migrated by another text')
  await set('UPDATE _prisma_migrations SET finished_at = NULL')
  await expect(migrate(adapter())).rejects.toThrow('unfinished migration')
  await set("UPDATE _prisma_migrations SET migration_name = '2999_later'")
  await expect(migrate(adapter())).rejects.toThrow('which this version does not know; start the newer version')
})

it('keeps what was written in the audit log', async () => {
  const db = await openDatabase(directory, (text) => lost.push(text))
  await db.recordAudit({
    who: 'w',
    from: '::1',
    action: 'models.load',
    object: 'm',
    detail: 'x'.repeat(9000),
    outcome: 'done',
  })
  await db.close()
  const connection = await adapter().connect()
  // The driver throws at once instead of rejecting.
  const script = async (sql: string) => connection.executeScript(sql)
  await expect(script(`UPDATE "AuditEntry" SET who = 'x'`)).rejects.toMatchObject({
    cause: { originalMessage: 'the audit log is append only' },
  })
  await expect(script(`DELETE FROM "AuditEntry"`)).rejects.toMatchObject({
    cause: { originalMessage: 'the audit log is append only' },
  })
  await connection.dispose()
  expect((await run('SELECT length(detail) FROM "AuditEntry"')).map(([length]) => Number(length))).toEqual([2000])
})

it('pages through the audit log without gaps or repeats', async () => {
  const db = await openDatabase(directory, (text) => lost.push(text))
  for (let i = 0; i < 7; i += 1)
    await db.recordAudit({ who: `${i}`, from: '', action: 'a', object: i % 2 ? 'x' : 'y', detail: '', outcome: '' })
  const seen: string[] = []
  for (let before: number | undefined; ;) {
    const page = await db.listAudit({ before, limit: 3 })
    seen.push(...page.rows.map(({ who }) => who))
    if (page.next === null) break
    before = page.next
  }
  expect(seen).toEqual(['6', '5', '4', '3', '2', '1', '0'])
  expect((await db.listAudit({ limit: 10, object: 'x' })).rows.map(({ who }) => who)).toEqual(['5', '3', '1'])
  await db.close()
})

it('serves on when a history entry cannot be written', async () => {
  const db = await openDatabase(directory, (text) => lost.push(text))
  await db.close()
  await db.recordAudit({ who: 'w', from: '', action: 'a', object: 'o', detail: '', outcome: '' })
  expect((await readFile(join(directory, 'conch.db'))).byteLength).toBeGreaterThan(0)
})

it('runs steps that must not mix one after another, also after a failure', async () => {
  const db = await openDatabase(directory, (text) => lost.push(text))
  const order: string[] = []
  const slow = db.alone(async () => {
    await new Promise((resolve) => setImmediate(resolve))
    order.push('first')
    throw new Error('no')
  })
  const next = db.alone(() => Promise.resolve(void order.push('second')))
  await expect(slow).rejects.toThrow('no')
  await next
  expect(order).toEqual(['first', 'second'])
  await db.close()
})
