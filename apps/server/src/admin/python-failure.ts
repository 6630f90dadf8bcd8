import { readFile, stat } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'
import { isInside, resolveInside } from './contain.ts'
import type { PythonFailure, PythonFrame } from './model.schema.ts'
import type { ModelFolder } from './repositories.ts'

/** Lines shown before and after the one that failed. */
const AROUND = 2
const MOST_FRAMES = 20
const LONGEST = 1_048_576
const LONGEST_TEXT = 65_536
const LONGEST_LINE = 300

/** What an exception of a model looks like in a message: innermost frame first. */
const TRACE = /^([\s\S]*?)\n\nAt:\n((?: {2}.+\(\d+\): .*(?:\n|$))+)/
const FRAME = /^ {2}(.+)\((\d+)\): (.*)$/
/** Python tells the place of a syntax error in the text itself. */
const SYNTAX = /([A-Z]\w*Error: [^\n]*) \((\S+\.py), line (\d+)\)/

/**
 * Finds the place in a model's own code that a message speaks of, and the lines around it. Undefined for any other
 * message. Paths of the server do not leave it: what is not the model's own file keeps its last two parts.
 */
export async function readPythonFailure(
  text: string,
  folder: ModelFolder | undefined,
  version: string,
): Promise<PythonFailure | undefined> {
  const read = text.slice(0, LONGEST_TEXT)
  const found = parseTrace(read) ?? parseSyntaxError(read)
  if (found === undefined) return undefined
  const frames = found.frames.slice(0, MOST_FRAMES).map((frame) => placeFrame(frame, folder, version))
  return { message: found.message, frames: await Promise.all(frames) }
}

interface Frame {
  readonly path: string
  readonly line: number
  readonly function: string
}

function parseTrace(text: string): { message: string; frames: readonly Frame[] } | undefined {
  const [, head, places] = TRACE.exec(text) ?? []
  if (head === undefined || places === undefined) return undefined
  const frames = places.split('\n').flatMap((row): Frame[] => {
    const [, path, line, name] = FRAME.exec(row) ?? []
    return path === undefined ? [] : [{ path, line: Number(line), function: name ?? '' }]
  })
  return { message: shortenMessage(head), frames }
}

/** What the server puts before an exception; the place says the same. */
const BEFORE = [
  /^load failed for model '.*': version \d+ is at UNAVAILABLE state: /,
  /^(?:Internal|Invalid argument|Unavailable|Not found|Unsupported|Already exists|Cancelled|Unknown): /,
  /^Failed to process the request\(s\) for model '.*?', message: /,
]

function shortenMessage(head: string): string {
  return BEFORE.reduce((text, before) => text.replace(before, ''), head)
}

function parseSyntaxError(text: string): { message: string; frames: readonly Frame[] } | undefined {
  const [, message, path, line] = SYNTAX.exec(text) ?? []
  if (message === undefined || path === undefined) return undefined
  return { message, frames: [{ path, line: Number(line), function: '' }] }
}

async function placeFrame(frame: Frame, folder: ModelFolder | undefined, version: string): Promise<PythonFrame> {
  const { path, line, function: name } = frame
  const own = folder === undefined ? undefined : findOwn(path, folder, version)
  if (own === undefined || folder === undefined) {
    return { file: path.split('/').slice(-2).join('/'), line, function: name, excerpt: null }
  }
  return { file: own, line, function: name, excerpt: await readExcerpt(folder.directory, own, line) }
}

/** A bare name is a file of the version; the engine tells files of its repositories from the model's folder on. */
function findOwn(path: string, { model, directory }: ModelFolder, version: string): string | undefined {
  if (path === basename(path)) return version === '' ? undefined : `${version}/${path}`
  if (path.startsWith(`${model}/`)) return path.slice(model.length + 1)
  return isInside(directory, path) ? relative(directory, path) : undefined
}

async function readExcerpt(directory: string, file: string, line: number): Promise<PythonFrame['excerpt']> {
  try {
    const path = await resolveInside(directory, file)
    if ((await stat(path)).size > LONGEST) return null
    const lines = (await readFile(path, 'utf8')).split('\n')
    const first = Math.max(1, line - AROUND)
    const shown = lines.slice(first - 1, line + AROUND).map((text) => text.slice(0, LONGEST_LINE))
    return shown.length === 0 ? null : { first, lines: shown }
  } catch {
    return null
  }
}

/** The message as a person reads it: the model's files by their place in the model. */
export function hidePaths(text: string, folder: ModelFolder | undefined): string {
  return folder === undefined ? text : text.replaceAll(join(folder.directory, '/'), '')
}
