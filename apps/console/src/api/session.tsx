'use client'
import type { Role, ServerInfo, User } from '@conch/server/schemas'
import { createContext, useContext, type ReactNode } from 'react'

export interface Session {
  readonly user: User
  readonly server: ServerInfo
}

const SessionContext = createContext<Session | null>(null)

export function SessionProvider({ session, children }: { session: Session; children: ReactNode }) {
  return <SessionContext value={session}>{children}</SessionContext>
}

/** The addresses of a server that listens everywhere, as this browser reaches it. */
export function reachServer(server: ServerInfo, hostname: string): ServerInfo {
  const reach = (url: string) => url.replace(/^(\w+:\/\/)(?:0\.0\.0\.0|\[::\])(?=[:/]|$)/, `$1${hostname}`)
  const { httpUrl, grpcUrl, metricsUrl } = server
  return {
    ...server,
    httpUrl: reach(httpUrl),
    grpcUrl: grpcUrl === null ? null : reach(grpcUrl),
    metricsUrl: reach(metricsUrl),
  }
}

/** Only below the gate, where somebody is signed in. */
export function useSession(): Session {
  const session = useContext(SessionContext)
  if (session === null) throw new Error('useSession is for screens behind the gate')
  return session
}

const RANK: Readonly<Record<Role, number>> = { viewer: 0, operator: 1, editor: 2, admin: 3 }

export function isAllowed(have: Role, need: Role): boolean {
  return RANK[have] >= RANK[need]
}

/** Null when the person may; otherwise why not, to be shown at the disabled button. */
export function useRefusal(need: Role): string | null {
  const { user } = useSession()
  if (isAllowed(user.role, need)) return null
  return `Needs the role ${need}; yours is ${user.role}. An admin can change it under Users.`
}
