import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { formatPbtxt, parsePbtxt } from '@conch/protocol'
import { findConfigs } from './find-configs.ts'

/** Rewrites files in the usual layout, comments kept. With --check nothing is written and 1 says that something would be. */
export async function formatConfigs(paths: readonly string[], flags: ReadonlySet<string>): Promise<number> {
  const onlyCheck = flags.has('--check')
  let unclean = 0
  for (const { file } of (await Promise.all(paths.map(findConfigs))).flat()) {
    const text = await readFile(file, 'utf8')
    const broken = parsePbtxt(text).problems.find((problem) => problem.severity === 'error')
    if (broken !== undefined) {
      console.error(`${file}:${broken.line}:${broken.column}: error: ${broken.message}`)
      unclean += 1
      continue
    }
    const formatted = formatPbtxt(text)
    if (formatted === text) continue
    console.log(file)
    if (onlyCheck) unclean += 1
    else await replaceFile(file, formatted)
  }
  return unclean === 0 ? 0 : 1
}

/** The old text stays until the new one is complete. */
async function replaceFile(file: string, text: string): Promise<void> {
  const fresh = `${file}.${process.pid}.new`
  try {
    await writeFile(fresh, text)
    await rename(fresh, file)
  } catch (error) {
    await rm(fresh, { force: true })
    throw error
  }
}
