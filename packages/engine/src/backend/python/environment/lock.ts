import { readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'

/** A lock whose owner has not touched it for this long is nobody's. */
const STALE_MS = 30_000
const TOUCH_MS = 5_000

/**
 * Tries to take the lock file `path`; undefined while somebody else has it. The owner touches it while it lives, so that
 * a killed one's lock is free after 30 s, and at once when its process is seen to be gone. Two owners at a time are
 * possible after a machine slept: what is made under the lock must bear that.
 */
export async function takeLock(path: string): Promise<(() => Promise<void>) | undefined> {
  if (await isStale(path)) await removeStale(path)
  const token = JSON.stringify({ host: hostname(), pid: process.pid, token: randomUUID() })
  try {
    await writeFile(path, token, { flag: 'wx' })
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return undefined
    throw error
  }
  const touch = (): void => {
    const now = new Date()
    utimes(path, now, now).catch(() => undefined)
  }
  const timer = setInterval(touch, TOUCH_MS)
  timer.unref()
  return async () => {
    clearInterval(timer)
    if ((await readFile(path, 'utf8').catch(() => '')) === token) await rm(path, { force: true })
  }
}

async function isStale(path: string): Promise<boolean> {
  try {
    const { mtimeMs } = await stat(path)
    if (Date.now() - mtimeMs > STALE_MS) return true
    const { host, pid } = JSON.parse(await readFile(path, 'utf8')) as { host?: unknown; pid?: unknown }
    return host === hostname() && typeof pid === 'number' && !isAlive(pid)
  } catch {
    // Gone meanwhile, or not written yet.
    return false
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Moved first: of two that remove it, one fails and tries again. */
async function removeStale(path: string): Promise<void> {
  const away = `${path}.${randomUUID()}`
  try {
    await rename(path, away)
  } catch {
    return
  }
  await rm(away, { force: true })
}
