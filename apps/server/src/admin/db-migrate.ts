import { createHash, randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { PrismaBetterSqlite3 } from '@prisma/adapter-better-sqlite3'
import { ConchError } from '@conch/protocol'

type Connection = Awaited<ReturnType<PrismaBetterSqlite3['connect']>>

interface Migration {
  readonly name: string
  readonly sql: string
  readonly checksum: string
}
interface Applied {
  readonly name: string
  readonly checksum: string
  readonly finished: boolean
}

/** The same depth below the repository from `src/admin` and from `dist/admin`. */
const DIRECTORY = fileURLToPath(new URL('../../../../prisma/migrations', import.meta.url))

/** Prisma's own table, column for column, so that its command line agrees with what was applied here. */
const TABLE = `CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
  "id" TEXT PRIMARY KEY NOT NULL, "checksum" TEXT NOT NULL, "finished_at" DATETIME, "migration_name" TEXT NOT NULL,
  "logs" TEXT, "rolled_back_at" DATETIME, "started_at" DATETIME NOT NULL DEFAULT current_timestamp,
  "applied_steps_count" INTEGER UNSIGNED NOT NULL DEFAULT 0
);`

/** Brings the database up to date. Each migration and its row go in one transaction: an interrupted start repeats it whole. */
export async function migrate(adapter: PrismaBetterSqlite3, directory = DIRECTORY): Promise<readonly string[]> {
  const migrations = await readMigrations(directory)
  const connection = await adapter.connect()
  try {
    await connection.executeScript(`PRAGMA busy_timeout = 5000; ${TABLE}`)
    const done = await readApplied(connection)
    checkHistory(migrations, done)
    const pending = migrations.filter(({ name }) => !done.some((row) => row.name === name))
    for (const migration of pending) await apply(connection, migration)
    return pending.map(({ name }) => name)
  } finally {
    await connection.dispose()
  }
}

async function readMigrations(directory: string): Promise<readonly Migration[]> {
  const entries = await readdir(directory, { withFileTypes: true })
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  return Promise.all(
    names.sort().map(async (name) => {
      const sql = await readFile(join(directory, name, 'migration.sql'), 'utf8')
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') }
    }),
  )
}

async function readApplied(connection: Connection): Promise<readonly Applied[]> {
  const { rows } = await connection.queryRaw({
    sql: `SELECT migration_name, checksum, finished_at IS NOT NULL FROM _prisma_migrations WHERE rolled_back_at IS NULL`,
    args: [],
    argTypes: [],
  })
  return rows.map(([name, checksum, finished]) => ({
    name: String(name),
    checksum: String(checksum),
    finished: Number(finished) === 1,
  }))
}

/** A database that this version cannot account for is left alone. */
function checkHistory(migrations: readonly Migration[], done: readonly Applied[]): void {
  for (const row of done) {
    const known = migrations.find(({ name }) => name === row.name)
    if (known === undefined)
      fail(`has migration '${row.name}', which this version does not know; start the newer version`)
    else if (!row.finished) fail(`has the unfinished migration '${row.name}'; restore it from a backup`)
    else if (known.checksum !== row.checksum) fail(`was migrated by another text of '${row.name}'`)
  }
}

function fail(what: string): never {
  throw new ConchError('UNSUPPORTED', `the console's database (conch.db in the data directory) ${what}`)
}

async function apply(connection: Connection, { name, sql, checksum }: Migration): Promise<void> {
  const now = new Date().toISOString()
  // Names come from our own folder, but a quote in one must not end the string.
  const row = [randomUUID(), checksum, now, name, now].map((text) => `'${text.replaceAll("'", "''")}'`).join(', ')
  const insert = `INSERT INTO _prisma_migrations (id, checksum, finished_at, migration_name, started_at, applied_steps_count) VALUES (${row}, 1);`
  try {
    await connection.executeScript(`BEGIN IMMEDIATE;\n${sql}\n${insert}\nCOMMIT;`)
  } catch (error) {
    await rollBack(connection)
    throw new ConchError('INTERNAL', `migration '${name}' of the console's database failed: ${String(error)}`, {
      cause: error,
    })
  }
}

/** There may be nothing to roll back; the driver throws at once instead of rejecting. */
async function rollBack(connection: Connection): Promise<void> {
  try {
    await connection.executeScript('ROLLBACK;')
  } catch {
    // The first error is the one to tell.
  }
}
