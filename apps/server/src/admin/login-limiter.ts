/** Slows down guessing: by account and address together, and by address alone, never for everybody at once. */
export interface LoginLimiter {
  /** Milliseconds to wait before the next try; 0 = go on. Counts the try. */
  take(address: string, name: string): number
  /** A right password clears the pair. */
  forgive(address: string, name: string): void
}

const WINDOW_MS = 60_000
const TRIES = { pair: 10, address: 50 }
/** Remembered keys; beyond it the oldest are forgotten. */
const KEYS = 10_000

export function createLoginLimiter(now: () => number = Date.now): LoginLimiter {
  const tries = new Map<string, { count: number; until: number }>()
  function count(key: string, limit: number): number {
    const at = now()
    const seen = tries.get(key)
    const entry = seen !== undefined && seen.until > at ? seen : { count: 0, until: at + WINDOW_MS }
    entry.count += 1
    tries.delete(key)
    tries.set(key, entry)
    const oldest = tries.size > KEYS ? tries.keys().next().value : undefined
    if (oldest !== undefined) tries.delete(oldest)
    return entry.count > limit ? entry.until - at : 0
  }
  return {
    take: (address, name) =>
      Math.max(count(JSON.stringify([address, name.toLowerCase()]), TRIES.pair), count(address, TRIES.address)),
    forgive: (address, name) => void tries.delete(JSON.stringify([address, name.toLowerCase()])),
  }
}
