import { createHash } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { hashInlineScripts, writePolicy } from './headers.ts'

export type Encoding = 'br' | 'gzip' | 'identity'
export interface Page {
  readonly type: string
  readonly etag: string
  readonly immutable: boolean
  /** Of the page's own inline scripts; for HTML only. */
  readonly policy: string
  read(encoding: Encoding): Promise<Uint8Array>
}
/** The console's static export, listed once: a URL is looked up in the list and never becomes a path. */
export interface Site {
  find(path: string): Page | undefined
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.svg': 'image/svg+xml',
  '.ico': 'image/x-icon',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.wasm': 'application/wasm',
}
const PACKED = new Set(['.png', '.ico', '.woff2'])

interface Folder {
  readonly folders: Map<string, Folder>
  readonly pages: Map<string, Page>
}

/** Undefined when there is no export. */
export async function readSite(directory: string): Promise<Site | undefined> {
  const found = await stat(join(directory, 'index.html')).catch(() => undefined)
  if (found === undefined) return undefined
  const root = await readFolder(directory, false)
  return { find: (path) => findPage(root, path) }
}

async function readFolder(directory: string, immutable: boolean): Promise<Folder> {
  const folder: Folder = { folders: new Map(), pages: new Map() }
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (entry.isDirectory())
      folder.folders.set(entry.name, await readFolder(path, immutable || path.endsWith('_next/static')))
    else if (entry.isFile()) folder.pages.set(entry.name, await makePage(path, immutable))
  }
  return folder
}

async function makePage(path: string, immutable: boolean): Promise<Page> {
  const kind = extname(path)
  const bytes = await readFile(path)
  const policy = kind === '.html' ? writePolicy(hashInlineScripts(bytes.toString('utf8'))) : ''
  const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`
  const packed = new Map<Encoding, Promise<Uint8Array>>()
  return {
    type: TYPES[kind] ?? 'application/octet-stream',
    etag,
    immutable,
    policy,
    read(encoding) {
      if (encoding === 'identity' || PACKED.has(kind)) return readFile(path)
      const known = packed.get(encoding)
      if (known !== undefined) return known
      const fresh = pack(path, encoding)
      packed.set(encoding, fresh)
      return fresh
    },
  }
}

/** What the build packed already, else packed once and kept. */
async function pack(path: string, encoding: 'br' | 'gzip'): Promise<Uint8Array> {
  const ready = await readFile(`${path}.${encoding === 'br' ? 'br' : 'gz'}`).catch(() => undefined)
  if (ready !== undefined) return ready
  const bytes = await readFile(path)
  if (encoding === 'gzip') return promisify(gzip)(bytes)
  return promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } })
}

/** `/models/iris` has no page of its own: the export wrote it once, as `_`, for every name. */
function findPage(root: Folder, path: string): Page | undefined {
  let parts: string[]
  try {
    parts = path.split('/').filter(Boolean).map(decodeURIComponent)
  } catch {
    return undefined
  }
  // No name that the export or a model has; some clients would read them as a way up.
  if (parts.some((part) => /[/\\\0]/.test(part))) return undefined
  const last = parts.pop()
  let folder = root
  for (const part of parts) {
    const next = folder.folders.get(part) ?? folder.folders.get('_')
    if (next === undefined) return undefined
    folder = next
  }
  if (last === undefined) return root.pages.get('index.html')
  return pick(folder, last) ?? pickPlaceholder(folder, last)
}

function pick({ pages, folders }: Folder, name: string): Page | undefined {
  return pages.get(name) ?? pages.get(`${name}.html`) ?? folders.get(name)?.pages.get('index.html')
}

/** Next asks for a page's data as `<page>.txt`; every other ending belongs to the name. */
function pickPlaceholder(folder: Folder, name: string): Page | undefined {
  return name.endsWith('.txt') ? folder.pages.get('_.txt') : pick(folder, '_')
}
