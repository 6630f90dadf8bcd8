import { ConchError } from '@conch/protocol'
import { TRPCError } from '@trpc/server'
import type { z } from 'zod'
import type { AdminContext } from '../context.ts'
import { hashPassword } from '../password.ts'
import { SESSION_SECONDS } from '../session.ts'
import type { setupSchema, User } from './account.schema.ts'

const FIRST = { role: 'admin' } as const

/** Makes the first account, once. Two at the same moment: the transaction lets one in. */
export async function setUp(ctx: AdminContext, input: z.infer<typeof setupSchema>): Promise<{ user: User }> {
  const { services, audit, from } = ctx
  audit.who = input.name
  const wait = services.logins.take(from, '')
  if (wait > 0)
    throw new TRPCError({ code: 'TOO_MANY_REQUESTS', message: `Too many tries; wait ${Math.ceil(wait / 1000)} s` })
  if (!services.setup.accepts(input.token)) {
    throw new TRPCError({ code: 'FORBIDDEN', message: "The setup token is wrong; the server's log shows it at start" })
  }
  const passwordHash = await hashPassword(input.password)
  const user = await services.db.alone(async () => {
    const { users } = services.db
    if ((await users.count()) > 0)
      throw new ConchError('ALREADY_EXISTS', 'The first account exists already; sign in with it')
    return users.create({ data: { name: input.name, passwordHash, ...FIRST } })
  })
  ctx.cookies?.set(await services.sessions.open(user.id), SESSION_SECONDS)
  return { user: { id: user.id, name: user.name, role: user.role } }
}
