import { lstat, mkdir, readdir, rename, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ConchError } from '@conch/protocol'
import type { z } from 'zod'
import { checkText } from '../check-text.ts'
import type { AdminContext, Services } from '../context.ts'
import { listFolder, namesOfNewest } from '../model-files.ts'
import type { FileRow } from '../model.schema.ts'
import { explainPickUp, readStateOf } from '../model-state.ts'
import { hidePaths, readPythonFailure } from '../python-failure.ts'
import { listVersions, type RepositoryRoot } from '../repositories.ts'
import { refuseConfig } from '../trpc.ts'
import { copyVerified, explainDisk, replaceFile, syncFolder } from '../write-file.ts'
import type { Published, publishSchema } from './deploy.schema.ts'
import { putInPlace } from './put-in-place.ts'

type Input = z.infer<typeof publishSchema>

/** Copies staged files into the repository as a version, and loads it. Until the last rename nothing of it is visible. */
export async function publishUpload({ services, audit }: AdminContext, input: Input): Promise<Published> {
  const { model, uploadId, configText } = input
  const { repositories, staging } = services
  const staged = join(await staging.get(uploadId), 'model')
  return repositories.exclusive(model, async () => {
    const files = await listFolder(staged)
    refuseErrors(model, configText, files)
    const existing = await repositories.find(model)
    const root = existing?.root ?? (await chooseRoot(services, input))
    if (existing === undefined) await refuseLookAlike(root, model)
    const version = await chooseVersion(existing?.directory, input, files)
    await refuseFull(root, files)
    const plan = { root, model, version, overwriteConfig: input.overwriteConfig, existing: existing?.directory }
    await build(services, staged, { ...plan, files, configText })
    await staging.discard(uploadId)
    const bytes = files.reduce((sum, { size }) => sum + size, 0)
    audit.detail = `version ${version}: ${files.length} files, ${bytes} bytes, to ${root.display}`
    return { model, version, ...(await load(services, input, version)) }
  })
}

function refuseErrors(model: string, text: string, files: readonly FileRow[]): void {
  const paths = files.map(({ path }) => path)
  const { problems } = checkText(text, model, {
    versionFiles: namesOfNewest(paths),
    has: (path) => paths.includes(path),
  })
  const first = problems.find(({ severity }) => severity === 'error')
  if (first !== undefined) throw refuseConfig(`config.pbtxt, line ${first.line}: ${first.message}`, problems)
}

async function chooseRoot({ repositories }: Services, { repository }: Input): Promise<RepositoryRoot> {
  const offered = repository === undefined ? repositories.roots : repositories.roots.slice(repository, repository + 1)
  for (const root of offered) if (await repositories.isWritable(root)) return root
  throw new ConchError('UNAVAILABLE', 'no model repository of this server can be written to')
}

/** `Iris` beside `iris` would be one folder on some disks and a trap everywhere. */
async function refuseLookAlike(root: RepositoryRoot, model: string): Promise<void> {
  const same = (await readdir(root.path)).find((name) => name.toLowerCase() === model.toLowerCase())
  if (same !== undefined)
    throw new ConchError(
      'ALREADY_EXISTS',
      `the repository holds '${same}' already; choose a name that differs by more than case`,
    )
}

async function chooseVersion(
  directory: string | undefined,
  { version, model }: Input,
  files: readonly FileRow[],
): Promise<string> {
  const uploaded = new Set(files.flatMap(({ path }) => /^(\d+)\//.exec(path)?.[1] ?? []))
  if (uploaded.size > 1) {
    throw new ConchError(
      'INVALID_ARG',
      `the upload holds ${uploaded.size} versions (${[...uploaded].join(', ')}); upload one at a time`,
    )
  }
  const present = directory === undefined ? [] : await listVersions(directory)
  if (version === 'next') return String(Math.max(0, ...present.map(Number)) + 1)
  if (present.includes(String(version)))
    throw new ConchError('ALREADY_EXISTS', `model '${model}' has a version ${version} already`)
  return String(version)
}

/** Bytes that stay free after a publication. */
const RESERVE = 64 * 1_048_576

async function refuseFull(root: RepositoryRoot, files: readonly FileRow[]): Promise<void> {
  const { bavail, bsize } = await statfs(root.path)
  const needed = files.reduce((sum, { size }) => sum + size, 0)
  if (bavail * bsize - needed >= Math.min(RESERVE, needed)) return
  throw new ConchError(
    'UNAVAILABLE',
    `the disk of the repository is full: ${needed} bytes are needed, ${bavail * bsize} are free; nothing was changed`,
  )
}

interface Plan {
  readonly root: RepositoryRoot
  readonly model: string
  readonly version: string
  readonly overwriteConfig: boolean
  readonly existing: string | undefined
  readonly files: readonly FileRow[]
  readonly configText: string
}

async function build({ repositories }: Services, staged: string, plan: Plan): Promise<void> {
  const work = await repositories.makeWork(plan.root).catch((error: unknown) => {
    throw explainDisk(error)
  })
  try {
    const made = join(work, 'model')
    // Also for a model without files of its own: an ensemble's version folder is empty.
    await mkdir(join(made, plan.version), { recursive: true, mode: 0o755 })
    for (const { path } of plan.files) {
      if (path === 'config.pbtxt') continue
      await copyVerified(join(staged, path), join(made, path.replace(/^\d+\//, `${plan.version}/`)))
    }
    await replaceFile(join(made, 'config.pbtxt'), Buffer.from(plan.configText), work)
    for (const folder of new Set(plan.files.map(({ path }) => dirname(path.replace(/^\d+\//, `${plan.version}/`))))) {
      await syncFolder(join(made, folder))
    }
    if (plan.existing !== undefined) await putInPlace({ made, target: plan.existing, work, ...plan })
    else await placeNew(made, join(plan.root.path, plan.model))
    await syncFolder(plan.root.path)
  } catch (error) {
    throw explainDisk(error)
  } finally {
    await repositories.dropWork(work)
  }
}

async function placeNew(made: string, target: string): Promise<void> {
  const taken = await lstat(target).catch(() => undefined)
  if (taken !== undefined)
    throw new ConchError('ALREADY_EXISTS', 'something of that name appeared in the repository meanwhile')
  await rename(made, target)
}

async function load(
  services: Services,
  { model, load: wanted }: Input,
  version: string,
): Promise<Pick<Published, 'state' | 'reason' | 'failure'>> {
  const { engine, server, repositories } = services
  if (server.controlMode !== 'explicit')
    return { state: (await readStateOf(engine, model)).state, reason: explainPickUp(services) }
  if (!wanted) return readStateOf(engine, model)
  try {
    await engine.load(model)
  } catch (error) {
    // It is published all the same: the files are right where they should be, and what served before still does.
    const { state } = await readStateOf(engine, model)
    const reason = error instanceof Error ? error.message : String(error)
    const folder = await repositories.find(model)
    const failure = await readPythonFailure(reason, folder, version)
    return { state, reason: hidePaths(reason, folder), ...(failure === undefined ? {} : { failure }) }
  }
  return readStateOf(engine, model)
}
