import { stat } from 'node:fs/promises'
import { Worker } from 'node:worker_threads'
import { ConchError } from '@conch/protocol'
import { refuseCancelled } from './cancelled.ts'
import type { Extracted } from './extract-archive.ts'
import type { ExtractionNews, ExtractionTask } from './extract-thread.ts'
import type { EnvironmentLog } from './request.ts'

/** Conda environments have up to some hundred thousand files. */
const MAX_ENTRIES = 1_000_000
/** Real environments shrink to a half or a fifth; zeros to a thousandth. */
const MAX_RATIO = 40
const SMALL = 64 * 1024 * 1024

/** Unpacks on a thread of its own. `name` is what the log and errors call the archive. */
export async function unpackArchive(
  task: Pick<ExtractionTask, 'archive' | 'directory'>,
  options: { readonly name: string; readonly log: EnvironmentLog; readonly signal: AbortSignal | undefined },
): Promise<void> {
  const { name, log, signal } = options
  const { size } = await stat(task.archive)
  const limits = { entries: MAX_ENTRIES, bytes: SMALL + MAX_RATIO * size }
  log('info', `unpacking ${name} (${printSize(size)})`)
  const started = performance.now()
  const file = import.meta.url.endsWith('.ts') ? './extract-thread.ts' : './extract-thread.js'
  const worker = new Worker(new URL(file, import.meta.url), { workerData: { ...task, limits } })
  const stop = (): void => void worker.terminate()
  signal?.addEventListener('abort', stop)
  try {
    if (signal?.aborted === true) throw refuseCancelled()
    const { entries, bytes } = await listen(worker, { name, log })
    const seconds = ((performance.now() - started) / 1_000).toFixed(1)
    log('info', `unpacked ${name}: ${entries} files, ${printSize(bytes)}, in ${seconds} s`)
  } catch (error) {
    throw signal?.aborted === true ? refuseCancelled() : error
  } finally {
    signal?.removeEventListener('abort', stop)
    await worker.terminate()
  }
}

function listen(worker: Worker, { name, log }: { name: string; log: EnvironmentLog }): Promise<Extracted> {
  return new Promise((resolve, reject) => {
    worker.on('message', (news: ExtractionNews) => {
      if (news.type === 'progress') {
        log('info', `unpacking ${name}: ${news.now.entries} files, ${printSize(news.now.bytes)}`)
      } else if (news.type === 'done') resolve(news.now)
      else reject(new ConchError(news.code, `the archive '${name}' was refused: ${news.message}`))
    })
    worker.on('error', reject)
    worker.on('exit', () => reject(new ConchError('INTERNAL', `unpacking '${name}' ended without a result`)))
  })
}

function printSize(bytes: number): string {
  return bytes < 10_000_000 ? `${Math.ceil(bytes / 1_000)} kB` : `${Math.round(bytes / 1_000_000)} MB`
}
