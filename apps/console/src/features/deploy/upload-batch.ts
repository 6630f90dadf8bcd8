import { Upload } from 'tus-js-client'
import type { Picked } from './pick-files.ts'

export interface UploadProgress {
  readonly state: 'running' | 'paused' | 'done' | 'failed'
  readonly sent: number
  readonly total: number
  /** Bytes a second over the last seconds; 0 while unknown. */
  readonly rate: number
  /** Files that are completely there. */
  readonly finished: number
  readonly failure: string | null
}
export interface Uploaded {
  readonly uploadId: string
  readonly path: string
}
interface BatchOptions {
  readonly files: readonly Picked[]
  readonly onProgress: (progress: UploadProgress) => void
  readonly onDone: (uploaded: readonly Uploaded[]) => void
}

const ENDPOINT = '/api/uploads'
/** One request carries this much; a lost connection costs at most one of them. */
const CHUNK_BYTES = 16 * 1024 * 1024
const RETRY_MS = [300, 1000, 2000, 4000]

/** Sends files one after the other, resumably: a pause, a lost connection or a reload continues where it stopped. */
export class UploadBatch {
  readonly #options: BatchOptions
  readonly #uploaded: Uploaded[] = []
  readonly #total: number
  readonly #meter = makeRateMeter()
  #current: Upload | undefined
  #before = 0
  #sent = 0
  #state: UploadProgress['state'] = 'running'

  constructor(options: BatchOptions) {
    this.#options = options
    this.#total = options.files.reduce((sum, { file }) => sum + file.size, 0)
  }

  start(): void {
    this.#state = 'running'
    void this.#next()
  }

  pause(): void {
    this.#state = 'paused'
    void this.#current?.abort()
    this.#report()
  }

  resume(): void {
    this.#state = 'running'
    this.#report()
    if (this.#current === undefined) void this.#next()
    else this.#current.start()
  }

  /** Stops and asks the server to forget what it has. */
  cancel(): void {
    this.#state = 'paused'
    void this.#current?.abort(true).catch(() => undefined)
  }

  async #next(): Promise<void> {
    const picked = this.#options.files[this.#uploaded.length]
    if (picked === undefined) {
      this.#state = 'done'
      this.#report()
      this.#options.onDone(this.#uploaded)
      return
    }
    const upload = this.#create(picked)
    this.#current = upload
    const [previous] = await upload.findPreviousUploads().catch(() => [])
    if (previous !== undefined) upload.resumeFromPreviousUpload(previous)
    if (this.#state === 'running') upload.start()
  }

  #create({ file, path }: Picked): Upload {
    return new Upload(file, {
      endpoint: ENDPOINT,
      chunkSize: CHUNK_BYTES,
      retryDelays: RETRY_MS,
      removeFingerprintOnSuccess: true,
      metadata: { filename: file.name, filetype: file.type },
      onProgress: (sent) => {
        this.#sent = sent
        this.#report()
      },
      onSuccess: () => this.#finish(file.size, path),
      onError: (error) => {
        this.#state = 'failed'
        this.#report(describeUploadError(error))
      },
    })
  }

  #finish(size: number, path: string): void {
    const uploadId = this.#current?.url?.split('/').at(-1) ?? ''
    this.#uploaded.push({ uploadId, path })
    this.#before += size
    this.#sent = 0
    this.#current = undefined
    if (this.#state === 'running') void this.#next()
  }

  #report(failure: string | null = null): void {
    const sent = this.#before + this.#sent
    const rate = this.#meter(sent, performance.now())
    this.#options.onProgress({
      state: this.#state,
      sent,
      total: this.#total,
      rate,
      finished: this.#uploaded.length,
      failure,
    })
  }
}

/** The answer's own words where there is one. */
export function describeUploadError(error: unknown): string {
  const answer = (error as { originalResponse?: { getBody?: () => string; getStatus?: () => number } | null })
    .originalResponse
  const body = answer?.getBody?.() ?? ''
  if (body !== '' && body.length < 500) return body
  const status = answer?.getStatus?.()
  if (status !== undefined && status > 0) return `The server answered ${status}.`
  return 'The connection to the server was lost. What was sent is kept: go on when it is back.'
}

const WINDOW_MS = 3000

/** Bytes a second over a sliding window. */
export function makeRateMeter(): (sent: number, now: number) => number {
  const marks: { sent: number; now: number }[] = []
  return (sent, now) => {
    marks.push({ sent, now })
    while (marks.length > 2 && (marks[0]?.now ?? now) < now - WINDOW_MS) marks.shift()
    const first = marks[0]
    if (first === undefined || now - first.now < 100) return 0
    return Math.max(0, ((sent - first.sent) / (now - first.now)) * 1000)
  }
}
