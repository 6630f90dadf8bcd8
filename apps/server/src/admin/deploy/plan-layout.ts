import { ConchError } from '@conch/protocol'
import { splitRelative } from '../contain.ts'

export interface Layout {
  /** Uploaded path → path inside the model's folder. */
  readonly moves: ReadonlyMap<string, string>
  /** Version folders, lowest first; empty for a model without files of its own (an ensemble). */
  readonly versions: readonly string[]
  readonly suggestedName: string
}

const MAX_DEPTH = 16
const JUNK = /(^|\/)(__MACOSX|\.git|\.DS_Store|Thumbs\.db|desktop\.ini|\._[^/]*)(\/|$)/
const VERSION = /^(0|[1-9][0-9]{0,17})$/
/** What belongs to the model and not to one version of it. */
const AT_THE_TOP =
  /^(config\.pbtxt|configs\/.*|samples\/.*|warmup\/.*|initial_state\/.*|readme(\.\w+)?|licen[cs]e(\.\w+)?|notice(\.\w+)?|.*\.(txt|md|labels))$/i

/**
 * Sorts uploaded files into a model's folder: a model folder is taken as it is, also from inside one outer folder;
 * loose files become version 1. Any path that could leave the folder refuses the whole upload.
 */
export function planLayout(paths: readonly string[], uploadName: string): Layout {
  for (const path of paths) checkPath(path)
  const kept = paths.filter((path) => !JUNK.test(path))
  if (kept.length === 0) throw new ConchError('INVALID_ARG', 'the upload holds no files')
  const outer = findOuterFolder(kept)
  const strip = outer === undefined ? 0 : outer.length + 1
  const inner = kept.map((path) => path.slice(strip))
  const versioned = inner.some(isVersioned)
  const loose = inner.filter((path) => !isVersioned(path) && !AT_THE_TOP.test(path))
  const moves = new Map<string, string>()
  for (const [i, path] of inner.entries()) {
    const target = versioned || AT_THE_TOP.test(path) ? path : `1/${nameLoose(path, loose, inner)}`
    moves.set(kept[i] ?? path, target)
  }
  refuseClashes([...moves.values()])
  const versions = [...new Set([...moves.values()].filter(isVersioned).map((path) => path.split('/')[0] ?? ''))]
  versions.sort((a, b) => Number(a) - Number(b))
  return { moves, versions, suggestedName: suggestName(outer ?? uploadName) }
}

function checkPath(path: string): void {
  const parts = splitRelative(path)
  if (parts === undefined)
    throw new ConchError(
      'INVALID_ARG',
      `the path '${path.slice(0, 100)}' in the upload could leave its folder; nothing was taken`,
    )
  if (parts.length > MAX_DEPTH) throw new ConchError('INVALID_ARG', `the upload has folders deeper than ${MAX_DEPTH}`)
}

function findOuterFolder(paths: readonly string[]): string | undefined {
  const first = paths[0]?.split('/')[0] ?? ''
  const wraps = !VERSION.test(first) && paths.every((path) => path.startsWith(`${first}/`))
  return wraps && !/^(configs|samples|warmup|initial_state)$/.test(first) ? first : undefined
}

function isVersioned(path: string): boolean {
  const slash = path.indexOf('/')
  return slash > 0 && VERSION.test(path.slice(0, slash))
}

/** The only .onnx of loose files is the model, whatever its name; with a config the config may name it. */
function nameLoose(path: string, loose: readonly string[], all: readonly string[]): string {
  const models = loose.filter((file) => file.endsWith('.onnx'))
  return models.length === 1 && path === models[0] && !path.includes('/') && !all.includes('config.pbtxt')
    ? 'model.onnx'
    : path
}

/** Paths that differ by case only are one file on some disks, and two that look like one to a person everywhere. */
function refuseClashes(paths: readonly string[]): void {
  const seen = new Set<string>()
  for (const path of paths) {
    const key = path.normalize('NFKC').toLowerCase()
    if (seen.has(key)) throw new ConchError('INVALID_ARG', `the upload holds '${path}' twice`)
    seen.add(key)
  }
}

/** A name that `deploy.publish` accepts. */
export function suggestName(text: string): string {
  const plain = text
    .replace(/\.(onnx|zip)$/i, '')
    .normalize('NFKD')
    .replaceAll(/[^A-Za-z0-9_.-]+/g, '_')
    .replace(/^[^A-Za-z0-9_]+/, '')
    .slice(0, 128)
  return plain === '' ? 'model' : plain
}
