import type { AdminContext } from '../context.ts'
import type { UserRow } from './account.schema.ts'

export async function listUsers({ services }: AdminContext): Promise<readonly UserRow[]> {
  const users = await services.db.users.findMany({ orderBy: { name: 'asc' }, take: 1000 })
  return users.map(({ id, name, role, createdAt }) => ({ id, name, role, createdAt: createdAt.getTime() }))
}
