import type { MemberContext } from '../context.ts'

export async function logout(ctx: MemberContext): Promise<{ user: null }> {
  await ctx.services.sessions.close(ctx.session.id)
  ctx.cookies?.clear()
  return { user: null }
}
