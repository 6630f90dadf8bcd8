import { ConchError } from '@conch/protocol'
import type { z } from 'zod'
import type { AdminContext } from '../context.ts'
import { hashPassword } from '../password.ts'
import type { createUserSchema, UserRow } from './account.schema.ts'

export async function createUser(
  { services, audit }: AdminContext,
  { name, password, role }: z.infer<typeof createUserSchema>,
): Promise<UserRow> {
  audit.detail = `role ${role}`
  const passwordHash = await hashPassword(password)
  const user = await services.db.alone(async () => {
    const { users } = services.db
    const same = await users.findUnique({ where: { name } })
    if (same !== null) throw new ConchError('ALREADY_EXISTS', `There is a user '${name}' already`)
    return users.create({ data: { name, passwordHash, role } })
  })
  return { id: user.id, name: user.name, role: user.role, createdAt: user.createdAt.getTime() }
}
