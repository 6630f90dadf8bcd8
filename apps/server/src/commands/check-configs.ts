import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { checkConfig, completeBackend, normaliseConfig, parsePbtxt } from '@conch/protocol'
import type { Problem } from '@conch/protocol'
import type { FoundConfig } from './find-configs.ts'
import { findConfigs, listVersionFiles } from './find-configs.ts'

/** Prints every problem as `file:line:column: severity: text`; 1 when one of them is an error. */
export async function checkConfigs(paths: readonly string[]): Promise<number> {
  let files = 0
  let errors = 0
  for (const given of paths) {
    try {
      const found = await findConfigs(given)
      if (found.length === 0) console.error(`${given}: warning: no config.pbtxt here or in the directories below`)
      files += found.length
      for (const config of found) errors += await printProblems(config)
    } catch (error) {
      console.error(`${given}: error: ${error instanceof Error ? error.message : String(error)}`)
      errors += 1
    }
  }
  console.error(`${files} ${files === 1 ? 'file' : 'files'} checked, ${errors} ${errors === 1 ? 'error' : 'errors'}`)
  return errors === 0 ? 0 : 1
}

/** Returns how many of the problems are errors. */
async function printProblems(config: FoundConfig): Promise<number> {
  const problems = await listProblems(config)
  for (const problem of problems) console.log(formatProblem(config.file, problem))
  return problems.filter((problem) => problem.severity === 'error').length
}

/** What the text itself breaks, or, when it can be read, what the configuration breaks. */
async function listProblems({ file, directory }: FoundConfig): Promise<readonly Problem[]> {
  const { config, tree, problems } = parsePbtxt(await readFile(file))
  if (problems.some((problem) => problem.severity === 'error')) return problems
  const directoryName = path.basename(path.resolve(directory))
  const versionFiles = await listVersionFiles(directory)
  const complete = normaliseConfig(completeBackend(config, { directoryName, versionFiles }))
  const files = { directory: path.resolve(directory), has: (name: string) => existsSync(path.join(directory, name)) }
  return [...problems, ...checkConfig(complete, { strictIo: false, directoryName, files, tree })]
}

function formatProblem(file: string, problem: Problem): string {
  const place = problem.line > 0 ? `${file}:${problem.line}:${problem.column}` : file
  const field = problem.path === '' ? '' : ` [${problem.path}]`
  const fix = problem.fix === undefined ? '' : `\n    fix: ${problem.fix.title}`
  const text = problem.message.replace(`${problem.line}:${problem.column}: `, '')
  return `${place}: ${problem.severity}: ${text}${field}${fix}`
}
