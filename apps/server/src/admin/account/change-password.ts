import { TRPCError } from '@trpc/server'
import type { z } from 'zod'
import type { MemberContext } from '../context.ts'
import { checkPassword, hashPassword } from '../password.ts'
import type { changePasswordSchema } from './account.schema.ts'

/** Ends the user's other sessions: a changed password is often a stolen one. */
export async function changePassword(
  { services, session, from, audit }: MemberContext,
  { current, next }: z.infer<typeof changePasswordSchema>,
): Promise<{ changed: true }> {
  const { id, name } = session.user
  audit.object = name
  const wait = services.logins.take(from, name)
  if (wait > 0)
    throw new TRPCError({ code: 'TOO_MANY_REQUESTS', message: `Too many tries; wait ${Math.ceil(wait / 1000)} s` })
  const user = await services.db.users.findUnique({ where: { id } })
  if (!(await checkPassword(current, user?.passwordHash))) {
    throw new TRPCError({ code: 'FORBIDDEN', message: 'The current password is wrong' })
  }
  await services.db.users.update({ where: { id }, data: { passwordHash: await hashPassword(next) } })
  await services.sessions.closeAll(id, session.id)
  services.logins.forgive(from, name)
  return { changed: true }
}
