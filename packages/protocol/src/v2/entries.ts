import { ConchError } from '../status.ts'

/** More entries of a list or members of an object than any request has use for; what they would cost is not bounded by bytes. */
export const MAX_ENTRIES = 10_000

/** Refuses one more of `what` once there are too many. */
export function checkEntries(count: number, what: string): void {
  if (count < MAX_ENTRIES) return
  throw new ConchError('INVALID_ARG', `a request may have at most ${MAX_ENTRIES} ${what}`)
}
