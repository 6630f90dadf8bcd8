import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { PrismaBetterSqlite3 } from '@prisma/adapter-better-sqlite3'
import type { AuditPage, AuditRow } from './audit/audit.schema.ts'
import { migrate } from './db-migrate.ts'
import { PrismaClient } from './gen/client.ts'

export type AuditRecord = Omit<AuditRow, 'id' | 'at'>

/** The console's memory. The only place that knows Prisma; nothing on the inference path waits for it. */
export interface Database {
  readonly users: PrismaClient['user']
  readonly sessions: PrismaClient['session']
  /** Never throws: a lost history entry must not undo what was done; it is told to `onLost` instead. */
  recordAudit(record: AuditRecord): Promise<void>
  listAudit(query: { before?: number | undefined; limit: number; object?: string | undefined }): Promise<AuditPage>
  /**
   * Runs steps that must not mix with others of their kind, as "no user yet, so make one". Not a transaction of the
   * database: all work shares one connection, so a roll-back would take other people's writes with it.
   */
  alone<T>(steps: () => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** Longest text of one audit column. */
const CUT = 2000

/** Opens `conch.db` in the data directory, making and migrating it when needed. */
export async function openDatabase(dataDirectory: string, onLost: (text: string) => void): Promise<Database> {
  await mkdir(dataDirectory, { recursive: true, mode: 0o700 })
  const adapter = new PrismaBetterSqlite3({ url: `file:${join(dataDirectory, 'conch.db')}` })
  await migrate(adapter)
  const prisma = new PrismaClient({ adapter })
  await prisma.$queryRaw`PRAGMA journal_mode = WAL`
  await prisma.$queryRaw`PRAGMA synchronous = NORMAL`
  await prisma.$queryRaw`PRAGMA busy_timeout = 5000`
  let turn: Promise<unknown> = Promise.resolve()
  return {
    users: prisma.user,
    sessions: prisma.session,
    alone(steps) {
      const mine = turn.then(steps)
      turn = mine.catch(() => undefined)
      return mine
    },
    close: () => prisma.$disconnect(),
    async recordAudit(record) {
      const data = Object.fromEntries(Object.entries(record).map(([key, text]) => [key, String(text).slice(0, CUT)]))
      try {
        await prisma.auditEntry.create({ data: data as unknown as AuditRecord })
      } catch (error) {
        onLost(`audit entry lost (${record.action} ${record.object} by ${record.who}): ${String(error)}`)
      }
    },
    async listAudit({ before, limit, object }) {
      const where = {
        ...(before === undefined ? {} : { id: { lt: before } }),
        ...(object === undefined ? {} : { object: { equals: object } }),
      }
      const found = await prisma.auditEntry.findMany({ where, orderBy: { id: 'desc' }, take: limit + 1 })
      const rows = found.slice(0, limit).map((entry): AuditRow => ({ ...entry, at: entry.at.getTime() }))
      return { rows, next: found.length > limit ? (rows.at(-1)?.id ?? null) : null }
    },
  }
}
