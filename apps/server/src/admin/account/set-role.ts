import { ConchError } from '@conch/protocol'
import type { z } from 'zod'
import type { AdminContext } from '../context.ts'
import type { setRoleSchema, User } from './account.schema.ts'

/** Takes effect at once, also on open sockets: roles are read with every call. */
export async function setRole(
  { services, audit }: AdminContext,
  { id, role }: z.infer<typeof setRoleSchema>,
): Promise<User> {
  return services.db.alone(async () => {
    const { users } = services.db
    const user = await users.findUnique({ where: { id } })
    if (user === null) throw new ConchError('NOT_FOUND', 'There is no such user')
    audit.object = user.name
    audit.detail = `role ${user.role} → ${role}`
    const admins = await users.count({ where: { role: 'admin' } })
    if (user.role === 'admin' && role !== 'admin' && admins === 1) {
      throw new ConchError('INVALID_ARG', 'This is the last admin; make another one first')
    }
    const updated = await users.update({ where: { id }, data: { role } })
    return { id, name: updated.name, role: updated.role }
  })
}
