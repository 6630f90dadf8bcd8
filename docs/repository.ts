import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'

/** What the document tests read: the tree they stand in. */
export const root = path.resolve(import.meta.dirname, '..')

export function readText(file: string): string {
  return readFileSync(path.join(root, file), 'utf8')
}

export function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 64 << 20 })
}

/** Tracked files, and new ones that are not ignored. */
export function listFiles(...patterns: readonly string[]): readonly string[] {
  return git('ls-files', '--cached', '--others', '--exclude-standard', '--', ...patterns)
    .split('\n')
    .filter(Boolean)
}
