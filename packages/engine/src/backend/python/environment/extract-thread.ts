import { parentPort, workerData } from 'node:worker_threads'
import { ConchError } from '@conch/protocol'
import type { Code } from '@conch/protocol'
import { extractArchive } from './extract-archive.ts'
import type { Extracted } from './extract-archive.ts'
import type { ExtractionLimits } from './extraction.ts'

/** What the thread is given. */
export interface ExtractionTask {
  readonly archive: string
  readonly directory: string
  readonly limits: ExtractionLimits
}

/** What it tells: progress, then one of the others. */
export type ExtractionNews =
  | { readonly type: 'progress'; readonly now: Extracted }
  | { readonly type: 'done'; readonly now: Extracted }
  | { readonly type: 'failed'; readonly code: Code; readonly message: string }

const PROGRESS_MS = 3_000

async function work({ archive, directory, limits }: ExtractionTask): Promise<ExtractionNews> {
  let told = performance.now()
  const progress = (now: Extracted): void => {
    if (performance.now() - told < PROGRESS_MS) return
    told = performance.now()
    parentPort?.postMessage({ type: 'progress', now } satisfies ExtractionNews)
  }
  try {
    return { type: 'done', now: await extractArchive(archive, directory, { limits, progress }) }
  } catch (error) {
    const code = error instanceof ConchError ? error.code : 'INTERNAL'
    return { type: 'failed', code, message: error instanceof Error ? error.message : String(error) }
  }
}

parentPort?.postMessage(await work(workerData as ExtractionTask))
