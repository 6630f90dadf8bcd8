import type { Engine, Log } from '@conch/engine'
import type { Role, ServerInfo } from './account/account.schema.ts'
import type { Database } from './db.ts'
import type { LiveRing } from './live-ring.ts'
import type { LogTail } from './log-tail.ts'
import type { LoginLimiter } from './login-limiter.ts'
import type { Repositories } from './repositories.ts'
import type { Session, Sessions } from './session.ts'
import type { Setup } from './setup.ts'
import type { Staging } from './staging.ts'

/** What the procedures stand on; made once by the listener. */
export interface Services {
  readonly engine: Engine
  readonly log: Log
  readonly tail: LogTail
  readonly db: Database
  readonly sessions: Sessions
  readonly logins: LoginLimiter
  readonly setup: Setup
  readonly live: LiveRing
  readonly repositories: Repositories
  readonly staging: Staging
  readonly server: ServerInfo
  /** Absolute; holds the database, staged uploads and the trash. */
  readonly dataDirectory: string
  /** `--model-config-name`, or ''. */
  readonly configName: string
  readonly pollSeconds: number
  /** The program that runs Python models. */
  readonly python: string
}

/** One call: who asks, from where, and what its audit entry will say. */
export interface AdminContext {
  readonly services: Services
  /** Of the session cookie, unchecked. */
  readonly token: string | null
  readonly from: string
  /** Undefined over the WebSocket, which cannot set cookies. */
  readonly cookies: Cookies | undefined
  readonly audit: AuditNote
}

export interface Cookies {
  set(token: string, maxAgeSeconds: number): void
  clear(): void
}

/** Procedures refine these; the middleware writes them when the call is over. */
export interface AuditNote {
  who: string
  object: string
  detail: string
}

export const RANK: Readonly<Record<Role, number>> = { viewer: 0, operator: 1, editor: 2, admin: 3 }

/** What `authorize` adds. */
export type MemberContext = AdminContext & { readonly session: Session }
