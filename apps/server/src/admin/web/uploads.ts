import { statfs } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { FileStore } from '@tus/file-store'
import { Server } from '@tus/server'
import { ConchError } from '@conch/protocol'
import type { StoredUpload, UploadStore } from '../staging.ts'

export interface Uploads extends UploadStore {
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>
  /** Removes uploads that nobody finished or used. */
  sweep(): Promise<void>
}
export interface UploadOptions {
  readonly directory: string
  /** Bytes of one upload. */
  readonly maxBytes: number
  /** Bytes that stay free on the disk whatever is uploaded. */
  readonly reserveBytes: number
}

export const UPLOADS_PATH = '/api/uploads'
const KEEP_MS = 12 * 3600 * 1000
const FULL = { status_code: 507, body: 'The disk is full; free some space and try again\n' }

/** Resumable uploads (tus 1.0). They land in the data directory, never in a repository. */
export function createUploads({ directory, maxBytes, reserveBytes }: UploadOptions): Uploads {
  const store = new FileStore({ directory, expirationPeriodInMilliseconds: KEEP_MS })
  const hasRoom = async (bytes: number) => {
    const { bavail, bsize } = await statfs(directory)
    return bavail * bsize - bytes >= reserveBytes
  }
  const server = new Server({
    path: UPLOADS_PATH,
    datastore: store,
    maxSize: maxBytes,
    relativeLocation: true,
    respectForwardedHeaders: false,
    allowedOrigins: () => false,
    async onUploadCreate(_request, upload) {
      if (upload.size === undefined) throw { status_code: 411, body: 'Say how long the upload is (Upload-Length)\n' }
      if (!(await hasRoom(upload.size))) throw FULL
      return {}
    },
    async onResponseError(_request, error) {
      const status = 'status_code' in error ? error.status_code : 500
      if (status < 500 || status === 507) return undefined
      // The store hides why a write failed; a disk without room is the likely reason and the one a person can mend.
      return (await hasRoom(0)) ? { status_code: 500, body: 'The upload could not be stored\n' } : FULL
    },
  })
  return {
    handle: (request, response) => server.handle(request, response),
    get: (id) => readUpload(store, id),
    remove: (id) => store.remove(id).catch(() => undefined),
    async sweep() {
      await store.deleteExpired().catch(() => 0)
    },
  }
}

async function readUpload(store: FileStore, id: string): Promise<StoredUpload> {
  if (!/^[0-9a-f]{32}$/.test(id)) throw new ConchError('INVALID_ARG', 'not the id of an upload')
  const upload = await store.getUpload(id).catch(() => undefined)
  if (upload?.size === undefined) throw new ConchError('NOT_FOUND', 'there is no such upload; it may have expired')
  if (upload.offset !== upload.size) {
    throw new ConchError('UNAVAILABLE', `the upload is not finished: ${upload.offset} of ${upload.size} bytes arrived`)
  }
  const filename = upload.metadata?.['filename'] ?? ''
  return { id, path: join(store.directory, id), size: upload.size, filename }
}
