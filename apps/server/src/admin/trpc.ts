import { ConchError, type Code } from '@conch/protocol'
import { initTRPC, TRPCError } from '@trpc/server'
import { z } from 'zod'
import type { Role } from './account/account.schema.ts'
import { RANK, type AdminContext } from './context.ts'
import type { ConfigProblem } from './model.schema.ts'

/** Every procedure says who may call it; the test that walks the router fails for one that does not. */
export interface ProcedureMeta {
  readonly role: Role | 'public'
  /** False for mutations that change nothing (a playground request). */
  readonly audited?: boolean
}

/** What the console reads from `error.data.conch`. */
export interface ErrorDetails {
  readonly code: Code
  readonly message: string
  readonly problems?: readonly ConfigProblem[]
  /** Field path → complaint, when the input was refused. */
  readonly fields?: Readonly<Record<string, string>>
}

const TRPC_CODE: Readonly<Record<Code, TRPCError['code']>> = {
  UNKNOWN: 'BAD_REQUEST',
  INTERNAL: 'INTERNAL_SERVER_ERROR',
  NOT_FOUND: 'NOT_FOUND',
  INVALID_ARG: 'BAD_REQUEST',
  UNAVAILABLE: 'SERVICE_UNAVAILABLE',
  UNSUPPORTED: 'NOT_IMPLEMENTED',
  ALREADY_EXISTS: 'CONFLICT',
  CANCELLED: 'CLIENT_CLOSED_REQUEST',
}
const HIDDEN = 'Something failed inside the server; its log says what'

/** A refusal that carries the config's problems to the editor. */
export function refuseConfig(message: string, problems: readonly ConfigProblem[]): ConchError {
  return new ConchError('INVALID_ARG', message, { cause: { problems } })
}

/** What a person may be told about a failure; null when it is for the log only. */
export function describeError(error: TRPCError): ErrorDetails | null {
  const cause = error.cause
  if (cause instanceof z.ZodError) {
    const fields = Object.fromEntries(cause.issues.map((issue) => [issue.path.join('.'), issue.message]))
    return { code: 'INVALID_ARG', message: z.prettifyError(cause), fields }
  }
  if (cause instanceof ConchError) {
    const inner = cause.cause
    const problems = typeof inner === 'object' && inner !== null && 'problems' in inner ? inner.problems : undefined
    const base = { code: cause.code, message: cause.message }
    return Array.isArray(problems) ? { ...base, problems: problems as ConfigProblem[] } : base
  }
  if (error.code === 'INTERNAL_SERVER_ERROR') return null
  return { code: error.code === 'NOT_FOUND' ? 'NOT_FOUND' : 'INVALID_ARG', message: error.message }
}

const trpc = initTRPC
  .context<AdminContext>()
  .meta<ProcedureMeta>()
  .create({
    errorFormatter({ shape, error }) {
      const conch = describeError(error) ?? { code: 'INTERNAL' as const, message: HIDDEN }
      const { stack: _stack, ...data } = shape.data
      return { ...shape, message: conch.message, data: { ...data, conch } }
    },
    sse: { enabled: false },
    isDev: false,
  })

export const { router } = trpc
export const { createCallerFactory } = trpc

/** Gives known errors their HTTP status, and keeps unknown ones out of the answer. */
const translate = trpc.middleware(async ({ next }) => {
  const result = await next()
  if (result.ok || !(result.error.cause instanceof ConchError)) return result
  const cause = result.error.cause
  throw new TRPCError({ code: TRPC_CODE[cause.code], message: cause.message, cause })
})

/** Writes what was changed, by whom, and how it ended; also when it was refused. */
const recordChange = trpc.middleware(async ({ ctx, next, path, type, meta, getRawInput }) => {
  if (type !== 'mutation' || meta?.audited === false) return next()
  const note = { who: '', object: nameObject(await getRawInput()), detail: '' }
  const result = await next({ ctx: { audit: note } })
  // People who are not signed in may not fill the log by knocking; sign-in itself is public and recorded.
  if (note.who === '' && meta?.role !== 'public') return result
  const outcome = result.ok ? 'done' : (describeError(result.error)?.message ?? HIDDEN)
  await ctx.services.db.recordAudit({ ...note, who: note.who || '(nobody)', from: ctx.from, action: path, outcome })
  return result
})

function nameObject(input: unknown): string {
  if (typeof input !== 'object' || input === null) return ''
  for (const key of ['model', 'name', 'id', 'uploadId']) {
    const value: unknown = Object.getOwnPropertyDescriptor(input, key)?.value
    if (typeof value === 'string') return value
  }
  return ''
}

/** Reads the session anew on every call, so that a removed user or a changed role takes effect at once, also on a live socket. */
const authorize = trpc.middleware(async ({ ctx, next, meta }) => {
  const role = meta?.role
  if (role === undefined || role === 'public') {
    throw new TRPCError({ code: 'FORBIDDEN', message: 'This procedure names no role' })
  }
  const session = await ctx.services.sessions.find(ctx.token)
  if (session === null) throw new TRPCError({ code: 'UNAUTHORIZED', message: 'Sign in first' })
  ctx.audit.who = session.user.name
  if (RANK[session.user.role] < RANK[role]) {
    throw new TRPCError({ code: 'FORBIDDEN', message: `This needs the role ${role}; yours is ${session.user.role}` })
  }
  return next({ ctx: { session } })
})

const recorded = trpc.procedure.use(translate).use(recordChange)
const procedureFor = (role: Role) => recorded.meta({ role }).use(authorize)

export const publicProcedure = recorded.meta({ role: 'public' })
export const viewerProcedure = procedureFor('viewer')
export const operatorProcedure = procedureFor('operator')
export const editorProcedure = procedureFor('editor')
export const adminProcedure = procedureFor('admin')
