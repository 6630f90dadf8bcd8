import { ConchError } from '@conch/protocol'
import type { AdminContext } from '../context.ts'

export async function removeUser({ services, audit }: AdminContext, { id }: { id: string }): Promise<{ id: string }> {
  await services.db.alone(async () => {
    const { users } = services.db
    const user = await users.findUnique({ where: { id } })
    if (user === null) throw new ConchError('NOT_FOUND', 'There is no such user')
    audit.object = user.name
    audit.detail = `role ${user.role}`
    if (user.role === 'admin' && (await users.count({ where: { role: 'admin' } })) === 1) {
      throw new ConchError('INVALID_ARG', 'This is the last admin; make another one first')
    }
    await services.sessions.closeAll(id)
    await users.delete({ where: { id } })
  })
  return { id }
}
