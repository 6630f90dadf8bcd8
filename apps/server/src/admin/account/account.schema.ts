import { z } from 'zod'

/** From least to most: each may do what the ones before may. */
export const ROLES = ['viewer', 'operator', 'editor', 'admin'] as const
export const roleSchema = z.enum(ROLES)
export type Role = z.infer<typeof roleSchema>

/** Names are shown and logged, so nothing invisible and nothing that can be mistaken for another. */
export const userNameSchema = z
  .string()
  .regex(/^[A-Za-z0-9](?:[A-Za-z0-9._@-]{0,62}[A-Za-z0-9])?$/, 'Letters, digits and . _ @ - inside, 64 at most')
/** Long passwords are fine, endless ones are not: each is stretched by scrypt. */
export const passwordSchema = z.string().min(8, 'At least 8 characters').max(256, 'At most 256 characters')

const signIn = z.strictObject({ name: z.string().min(1).max(64), password: z.string().min(1).max(256) })

export const loginSchema = signIn
export const setupSchema = z.strictObject({
  name: userNameSchema,
  password: passwordSchema,
  /** Asked for when the console is reachable from other machines; it is printed in the server's log. */
  token: z.string().max(128).optional(),
})
export const changePasswordSchema = z.strictObject({ current: z.string().min(1).max(256), next: passwordSchema })
export const createUserSchema = z.strictObject({ name: userNameSchema, password: passwordSchema, role: roleSchema })
export const setRoleSchema = z.strictObject({ id: z.uuid(), role: roleSchema })
export const removeUserSchema = z.strictObject({ id: z.uuid() })

export interface User {
  readonly id: string
  readonly name: string
  readonly role: Role
}
export interface UserRow extends User {
  /** Milliseconds since the epoch. */
  readonly createdAt: number
}

export interface ServerInfo {
  readonly name: string
  readonly version: string
  readonly httpUrl: string
  readonly grpcUrl: string | null
  readonly metricsUrl: string
  /** Display names of the model repositories. */
  readonly repositories: readonly string[]
  readonly controlMode: 'none' | 'poll' | 'explicit'
}

export interface AccountState {
  /** True until the first user, an admin, was made. */
  readonly setupNeeded: boolean
  /** True when `account.setup` must carry the token of the server's log. */
  readonly setupTokenNeeded: boolean
  readonly user: User | null
  /** Null for people who are not signed in. */
  readonly server: ServerInfo | null
}
