import { randomBytes, timingSafeEqual } from 'node:crypto'
import { hashToken } from './session.ts'

/** The first account. On loopback whoever reaches the console may make it; elsewhere only who can read the server's log. */
export interface Setup {
  readonly tokenNeeded: boolean
  accepts(token: string | undefined): boolean
}

export function createSetup(loopback: boolean, announce: (token: string) => void): Setup {
  if (loopback) return { tokenNeeded: false, accepts: () => true }
  const token = randomBytes(12).toString('base64url')
  const wanted = Buffer.from(hashToken(token))
  announce(token)
  return {
    tokenNeeded: true,
    accepts: (given) => given !== undefined && timingSafeEqual(Buffer.from(hashToken(given)), wanted),
  }
}
