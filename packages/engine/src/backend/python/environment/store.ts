import { randomUUID } from 'node:crypto'
import { lstat, mkdir, open, readdir, readFile, rename, rm, utimes } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { userInfo } from 'node:os'
import { ConchError } from '@conch/protocol'
import { refuseCancelled } from './cancelled.ts'
import { takeLock } from './lock.ts'
import type { EnvironmentLog } from './request.ts'

const READY = 'ready.json'
const POLL_MS = 200
const DAY_MS = 24 * 60 * 60 * 1_000

export interface StoreOptions {
  /** Where all environments are. */
  readonly directory: string
  /** Environments that no server has used for this long are removed. */
  readonly keepDays: number
}

export interface Making {
  /** Fills the empty directory; what it throws fails the load. */
  readonly make: (directory: string, signal: AbortSignal | undefined) => Promise<void>
  readonly log: EnvironmentLog
  readonly signal: AbortSignal | undefined
}

/** Directories that this process has handed out: they are kept from being swept. */
const inUse = new Set<string>()
let touching: NodeJS.Timeout | undefined

/**
 * The directory for `key`, made once by whoever asks first on this machine; all others wait. Made in place, because
 * scripts of an environment carry its path; it counts from the moment that `ready.json` names it, which is one rename,
 * so that a crash leaves nothing that is taken for an environment.
 */
export async function openStored(options: StoreOptions, key: string, making: Making): Promise<string> {
  const entry = join(options.directory, key)
  const known = await findReady(entry)
  if (known !== undefined) return known
  await prepareStore(options.directory)
  await mkdir(entry, { recursive: true, mode: 0o700 })
  const release = await waitForLock(entry, making)
  try {
    const meanwhile = await findReady(entry)
    if (meanwhile !== undefined) return meanwhile
    await removeLeftovers(entry)
    return await makeIn(entry, making)
  } finally {
    await release()
    await sweep(options)
  }
}

/** Undefined when it is not there, so that nothing need be checked before something is built. */
export async function findStored(options: StoreOptions, key: string): Promise<string | undefined> {
  return findReady(join(options.directory, key))
}

async function waitForLock(entry: string, { log, signal }: Making): Promise<() => Promise<void>> {
  for (let waited = false; ; waited = true) {
    if (signal?.aborted === true) throw refuseCancelled()
    const release = await takeLock(join(entry, 'lock'))
    if (release !== undefined) return release
    if (!waited) log('info', 'another server is making this environment; waiting for it')
    await sleep(POLL_MS, undefined, signal === undefined ? {} : { signal }).catch(() => undefined)
  }
}

async function makeIn(entry: string, { make, signal }: Making): Promise<string> {
  const directory = join(entry, randomUUID().slice(0, 8))
  await mkdir(directory, { mode: 0o700 })
  try {
    await make(directory, signal)
    if (signal?.aborted === true) throw refuseCancelled()
    await writeReady(entry, basename(directory))
  } catch (error) {
    await rm(directory, { recursive: true, force: true })
    throw error
  }
  return use(entry, directory)
}

async function findReady(entry: string): Promise<string | undefined> {
  try {
    const { directory } = JSON.parse(await readFile(join(entry, READY), 'utf8')) as { directory?: unknown }
    if (typeof directory !== 'string' || !/^[\da-f]{8}$/.test(directory)) return undefined
    const path = join(entry, directory)
    if (!(await lstat(path)).isDirectory()) return undefined
    await touch(entry)
    return use(entry, path)
  } catch {
    return undefined
  }
}

async function writeReady(entry: string, directory: string): Promise<void> {
  const draft = join(entry, `${READY}.${randomUUID()}`)
  const file = await open(draft, 'wx', 0o600)
  try {
    await file.writeFile(`${JSON.stringify({ directory, made: new Date().toISOString() })}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(draft, join(entry, READY))
}

/** What crashed builders left; called under the lock. */
async function removeLeftovers(entry: string): Promise<void> {
  for (const name of await readdir(entry)) {
    if (name !== 'lock') await rm(join(entry, name), { recursive: true, force: true })
  }
}

/** Code will be run from there: in a place that others may write to, it must be ours alone. */
async function prepareStore(directory: string): Promise<void> {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 })
  } catch (cause) {
    const fix = 'name another with --backend-config=python,environment-cache-directory=DIR'
    throw new ConchError('UNAVAILABLE', `the directory for Python environments cannot be made; ${fix}`, { cause })
  }
  const { uid, mode } = await lstat(directory)
  if (uid !== userInfo().uid || (mode & 0o022) !== 0) {
    const why = 'the directory for Python environments belongs to another user or is writable by others'
    throw new ConchError('UNAVAILABLE', `${why}; make it yours alone (chmod 700), or name another`)
  }
}

function use(entry: string, directory: string): string {
  inUse.add(entry)
  touching ??= setInterval(() => {
    for (const used of inUse) touch(used).catch(() => undefined)
  }, DAY_MS / 2)
  touching.unref()
  return directory
}

async function touch(entry: string): Promise<void> {
  const now = new Date()
  await utimes(join(entry, READY), now, now)
}

/** Removes what nobody has used for long. What it cannot remove, the next one may. */
async function sweep({ directory, keepDays }: StoreOptions): Promise<void> {
  const oldest = Date.now() - keepDays * DAY_MS
  for (const name of await readdir(directory).catch(() => [])) {
    const entry = join(directory, name)
    if (!/^[\da-f]{32}$/.test(name) || inUse.has(entry)) continue
    const lastUse = await lstat(join(entry, READY)).catch(() => lstat(entry).catch(() => undefined))
    if (lastUse === undefined || lastUse.mtimeMs > oldest) continue
    await rm(entry, { recursive: true, force: true }).catch(() => undefined)
  }
}
