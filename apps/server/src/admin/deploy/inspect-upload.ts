import { link, mkdir, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { ConchError } from '@conch/protocol'
import type { z } from 'zod'
import { checkText } from '../check-text.ts'
import type { AdminContext, Services } from '../context.ts'
import { hashFile } from '../write-file.ts'
import { listFolder, namesOfNewest } from '../model-files.ts'
import type { StoredUpload } from '../staging.ts'
import type { FileRow } from '../model.schema.ts'
import type { Inspection, inspectSchema } from './deploy.schema.ts'
import { extractZip } from './extract-zip.ts'
import { planLayout, type Layout } from './plan-layout.ts'
import { proposeConfig } from './propose-config.ts'
import { checkSignature } from './check-signature.ts'
import { readSignature } from './read-signature.ts'

type Input = z.infer<typeof inspectSchema>

/**
 * Takes finished uploads apart: unpacks, lays them out as a model's folder in the staging area, reads what the model
 * says of itself and proposes a config. Nothing is executed, and nothing touches a repository.
 */
export async function inspectUpload({ services }: AdminContext, input: Input): Promise<Inspection> {
  const wanted = 'uploadId' in input ? [{ uploadId: input.uploadId, path: undefined }] : input.files
  const uploads = await Promise.all(wanted.map(({ uploadId }) => services.staging.uploads.get(uploadId)))
  const { id, directory } = await services.staging.create()
  try {
    const staged = await stage(
      directory,
      uploads,
      wanted.map(({ path }) => path),
    )
    return { id, ...(await describe(join(directory, 'model'), staged)) }
  } catch (error) {
    await services.staging.discard(id)
    throw error
  } finally {
    await forgetUploads(services, uploads)
  }
}

/** Their bytes are in the staging area now, or were refused. */
async function forgetUploads({ staging }: Services, uploads: readonly StoredUpload[]): Promise<void> {
  for (const { id } of uploads) await staging.uploads.remove(id)
}

interface Staged {
  readonly kind: Inspection['kind']
  readonly layout: Layout
}

async function stage(
  directory: string,
  uploads: readonly StoredUpload[],
  paths: readonly (string | undefined)[],
): Promise<Staged> {
  const raw = join(directory, 'raw')
  await mkdir(raw)
  const [only] = uploads
  const kind = uploads.length === 1 && paths[0] === undefined && only !== undefined ? await nameKind(only) : 'folder'
  const names =
    kind === 'zip' && only !== undefined ? await extractZip(only.path, raw) : await linkUploads(raw, uploads, paths)
  const layout = planLayout(names, basename(only?.filename ?? ''))
  const model = join(directory, 'model')
  for (const [from, to] of layout.moves) {
    await mkdir(dirname(join(model, to)), { recursive: true })
    await rename(join(raw, from), join(model, to))
  }
  await rm(raw, { recursive: true, force: true })
  return { kind, layout }
}

async function nameKind({ path, filename }: StoredUpload): Promise<'zip' | 'onnx'> {
  const file = await open(path, 'r')
  const head = Buffer.alloc(4)
  try {
    await file.read(head, 0, 4, 0)
  } finally {
    await file.close()
  }
  if (head.toString('latin1').startsWith('PK')) return 'zip'
  if (/\.onnx$/i.test(filename)) return 'onnx'
  throw new ConchError(
    'INVALID_ARG',
    `'${filename.slice(0, 100)}' is neither an .onnx file nor a .zip; for other models drop their folder`,
  )
}

/** A client's path decides the place below `raw`, after it was checked; its file name alone does not. */
async function linkUploads(
  raw: string,
  uploads: readonly StoredUpload[],
  paths: readonly (string | undefined)[],
): Promise<readonly string[]> {
  const names: string[] = []
  for (const [i, upload] of uploads.entries()) {
    const path = paths[i] ?? 'model.onnx'
    planLayout([path], '')
    if (names.includes(path)) throw new ConchError('INVALID_ARG', `the upload holds '${path.slice(0, 100)}' twice`)
    const target = join(raw, path)
    await mkdir(dirname(target), { recursive: true })
    await link(upload.path, target)
    names.push(path)
  }
  return names
}

/** Formats that run code of their own when they are loaded. */
const RUNS_CODE = /\.(py|pkl|pickle|pt|pth|joblib|keras|h5|so|dll|dylib)$/i
/** Bytes up to which a file's hash is shown. */
const HASHED = 268_435_456

async function describe(model: string, { kind, layout }: Staged): Promise<Omit<Inspection, 'id'>> {
  const files = await listFolder(model)
  const paths = files.map(({ path }) => path)
  const warnings = paths
    .filter((path) => RUNS_CODE.test(path))
    .map((path) => `${path}: this format runs code when it is loaded; publish it only if you trust where it comes from`)
  const { onnx, signature, warnings: doubts } = await readSignature(model, paths)
  warnings.push(...doubts)
  const name = layout.suggestedName
  const proposedConfig = await proposeConfig({ model, name, paths, onnx })
  const draft = { versionFiles: namesOfNewest(paths), has: (path: string) => paths.includes(path) }
  const checked = checkText(proposedConfig, name, draft)
  return {
    kind,
    signature,
    suggestedName: name,
    files: await hashSmall(model, files),
    proposedConfig,
    problems: [...checked.problems, ...(signature === null ? [] : checkSignature(checked, signature))],
    warnings,
  }
}

async function hashSmall(model: string, files: readonly FileRow[]): Promise<readonly FileRow[]> {
  const rows: FileRow[] = []
  for (const file of files) {
    rows.push(file.size > HASHED ? file : { ...file, sha256: await hashFile(join(model, file.path)) })
  }
  return rows
}
