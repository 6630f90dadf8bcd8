import { stat } from 'node:fs/promises'
import type { ModelFile, Session } from './session.ts'
import type { SessionPlan } from './session-plan.ts'

/** Time between completing a config and creating the first instance; mostly a few milliseconds. */
const KEPT_MS = 10_000

/** What makes two sessions interchangeable: the file as it is now, and how it is to be run. */
export async function identifySession({ path }: ModelFile, plan: SessionPlan): Promise<string> {
  const { ino, size, mtimeMs, ctimeMs } = await stat(path)
  return JSON.stringify([path, ino, size, mtimeMs, ctimeMs, plan])
}

/**
 * Sessions that were opened to look at a model and become its first instance's, so that completing a config does not
 * cost a second load. One that nobody comes for is closed after a while.
 */
export class Handover {
  readonly #waiting = new Map<string, { readonly session: Session; readonly timer: NodeJS.Timeout }>()

  async leave(identity: string, session: Session): Promise<void> {
    const earlier = this.take(identity)
    const timer = setTimeout(() => void this.take(identity)?.close(), KEPT_MS)
    timer.unref()
    this.#waiting.set(identity, { session, timer })
    await earlier?.close()
  }

  take(identity: string): Session | undefined {
    const found = this.#waiting.get(identity)
    if (found === undefined) return undefined
    clearTimeout(found.timer)
    this.#waiting.delete(identity)
    return found.session
  }
}
