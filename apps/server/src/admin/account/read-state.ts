import type { AdminContext } from '../context.ts'
import type { AccountState } from './account.schema.ts'

/** Tells strangers only whether to sign up or to sign in. */
export async function readState({ services, token }: AdminContext): Promise<AccountState> {
  const [session, users] = await Promise.all([services.sessions.find(token), services.db.users.count({ take: 1 })])
  return {
    setupNeeded: users === 0,
    setupTokenNeeded: users === 0 && services.setup.tokenNeeded,
    user: session?.user ?? null,
    server: session === null ? null : services.server,
  }
}
