import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** What a file next to the model says of the interpreter. */
export interface WantedVersion {
  /** `.python-version`, `pyproject.toml` or `uv.lock`. */
  readonly file: string
  /** As it is written there. */
  readonly text: string
  /** PEP 440 specifiers, all of which must hold. */
  readonly specifiers: readonly string[]
}

const MAX_BYTES = 16 * 1024 * 1024

/** Everything that the directories say, the first one's files first. What cannot be read as a version says nothing. */
export async function readWantedVersions(directories: readonly string[]): Promise<readonly WantedVersion[]> {
  const found: WantedVersion[] = []
  for (const directory of directories) {
    found.push(...readPin(await readSmall(join(directory, '.python-version'))))
    for (const file of ['pyproject.toml', 'uv.lock']) {
      found.push(...readRequires(file, await readSmall(join(directory, file))))
    }
  }
  return found
}

async function readSmall(path: string): Promise<string> {
  try {
    const text = await readFile(path, 'utf8')
    return text.length > MAX_BYTES ? '' : text
  } catch {
    return ''
  }
}

/** The first line that is a version. A patch level is not insisted on: its modules work in all of them. */
function readPin(text: string): WantedVersion[] {
  const lines = text.split('\n').map((line) => line.replace(/#.*/, '').trim())
  const line = lines.find((candidate) => candidate !== '') ?? ''
  const match = /^(?:cpython-|python-?|cpython@)?(\d+)(?:\.(\d+))?(?:\.\d+)?$/i.exec(line)
  if (match === null) return []
  const [, major = '', minor] = match
  const version = minor === undefined ? major : `${major}.${minor}`
  return [{ file: '.python-version', text: line, specifiers: [`==${version}.*`] }]
}

function readRequires(file: string, text: string): WantedVersion[] {
  // In pyproject.toml the key belongs to [project]; uv.lock has it at the top.
  const section = file === 'uv.lock' ? text : (/^\[project\]\s*$([^]*?)(?=^\[|(?![^]))/m.exec(text)?.[1] ?? '')
  const written = /^requires-python\s*=\s*["']([^"']*)["']/m.exec(section)?.[1]
  if (written === undefined) return []
  const specifiers = written.split(',').map((part) => part.replaceAll(/\s/g, ''))
  return [{ file, text: written, specifiers: specifiers.filter((part) => part !== '') }]
}

/** Whether `version` (`3.11.7`) meets all specifiers; one that is not understood is met. */
export function isWanted(version: string, wanted: Pick<WantedVersion, 'specifiers'>): boolean {
  return wanted.specifiers.every((specifier) => meets(version, specifier))
}

const SPECIFIER = /^(===|==|~=|!=|<=|>=|<|>)(\d+(?:\.\d+)*)(\.\*)?/

/** What each operator asks of an own version, given the limit's order and whether the limit is its beginning. */
const OPERATORS: Readonly<Record<string, (order: number, isSame: boolean, isNear: boolean) => boolean>> = {
  '==': (_, isSame) => isSame,
  '===': (_, isSame) => isSame,
  '!=': (_, isSame) => !isSame,
  '>=': (order) => order >= 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '<': (order) => order < 0,
  '~=': (order, _, isNear) => order >= 0 && isNear,
}

function meets(version: string, specifier: string): boolean {
  const [, operator = '', text = '', star = ''] = SPECIFIER.exec(specifier) ?? []
  const limit = text.split('.').map(Number)
  const own = version.split('.').map(Number)
  const order = compare(own, limit)
  const startsWith = (parts: readonly number[]): boolean => parts.every((part, index) => own[index] === part)
  return (
    OPERATORS[operator]?.(order, star === '' ? order === 0 : startsWith(limit), startsWith(limit.slice(0, -1))) ?? true
  )
}

function compare(left: readonly number[], right: readonly number[]): number {
  for (let index = 0; index < Math.max(left.length, right.length); index += 1) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}
