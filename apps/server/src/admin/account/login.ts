import { TRPCError } from '@trpc/server'
import type { z } from 'zod'
import type { AdminContext } from '../context.ts'
import { checkPassword } from '../password.ts'
import { SESSION_SECONDS } from '../session.ts'
import type { loginSchema, User } from './account.schema.ts'

/** A new token each time: one that was planted before sign-in is worth nothing after it. */
export async function login(
  ctx: AdminContext,
  { name, password }: z.infer<typeof loginSchema>,
): Promise<{ user: User }> {
  const { services, audit, from } = ctx
  audit.who = name
  const wait = services.logins.take(from, name)
  if (wait > 0)
    throw new TRPCError({ code: 'TOO_MANY_REQUESTS', message: `Too many tries; wait ${Math.ceil(wait / 1000)} s` })
  const user = await services.db.users.findUnique({ where: { name } })
  const right = await checkPassword(password, user?.passwordHash)
  if (user === null || !right) throw new TRPCError({ code: 'UNAUTHORIZED', message: 'Name or password is wrong' })
  services.logins.forgive(from, name)
  ctx.cookies?.set(await services.sessions.open(user.id), SESSION_SECONDS)
  return { user: { id: user.id, name: user.name, role: user.role } }
}
