import { createHash, randomBytes } from 'node:crypto'
import type { User } from './account/account.schema.ts'
import type { Database } from './db.ts'

export const SESSION_COOKIE = 'conch_session'
export const SESSION_SECONDS = 7 * 24 * 3600

export interface Session {
  readonly id: string
  readonly user: User
}

/** Who is asking. Tokens live in the cookie; the database holds their hashes. */
export interface Sessions {
  open(userId: string): Promise<string>
  find(token: string | null): Promise<Session | null>
  close(id: string): Promise<void>
  /** Ends every session of a user but one: after a new password, a new role, or removal. */
  closeAll(userId: string, except?: string): Promise<void>
  /** Called with the ids of sessions that ended before their time, so that their sockets go too. */
  onClosed(listener: (ids: readonly string[]) => void): void
}

export function createSessions(db: Database, now: () => number = Date.now): Sessions {
  const listeners: ((ids: readonly string[]) => void)[] = []
  async function drop(where: { id: string } | { userId: string; NOT?: { id: string } }): Promise<void> {
    const gone = await db.sessions.findMany({ where, select: { id: true } })
    const ids = gone.map(({ id }) => id)
    await db.sessions.deleteMany({ where: { id: { in: ids } } })
    for (const listener of listeners) listener(ids)
  }
  return {
    async open(userId) {
      const token = randomBytes(32).toString('base64url')
      const expiresAt = new Date(now() + SESSION_SECONDS * 1000)
      await db.sessions.deleteMany({ where: { expiresAt: { lt: new Date(now()) } } })
      await db.sessions.create({ data: { tokenHash: hashToken(token), userId, expiresAt } })
      return token
    },
    async find(token) {
      if (token === null || token.length > 100) return null
      const row = await db.sessions.findUnique({ where: { tokenHash: hashToken(token) }, include: { user: true } })
      if (row === null || row.expiresAt.getTime() <= now()) return null
      return { id: row.id, user: { id: row.user.id, name: row.user.name, role: row.user.role } }
    },
    close: (id) => drop({ id }),
    closeAll: (userId, except) => drop(except === undefined ? { userId } : { userId, NOT: { id: except } }),
    onClosed: (listener) => void listeners.push(listener),
  }
}

export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

/** The session token among a request's cookies; null when there is none or more than one. */
export function readSessionCookie(header: string | undefined): string | null {
  const values = (header ?? '')
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part.startsWith(`${SESSION_COOKIE}=`))
  const only = values.length === 1 ? values[0] : undefined
  return only === undefined ? null : only.slice(SESSION_COOKIE.length + 1)
}

/** `secure` only under TLS: a browser drops such a cookie on plain http. */
export function writeSessionCookie(token: string, maxAgeSeconds: number, secure: boolean): string {
  return `${SESSION_COOKIE}=${token}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAgeSeconds}${secure ? '; Secure' : ''}`
}
