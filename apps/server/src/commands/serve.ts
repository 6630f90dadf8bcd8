import { UsageError } from '../command-line.ts'
import type { ServeOptions } from '../options.ts'
import { readServeOptions } from '../options.ts'
import { serve } from '../serve.ts'

export async function runServe(args: readonly string[]): Promise<number> {
  const options = readOrExplain(args, 'serve')
  return options === undefined ? 1 : serve(options)
}

/** Bad options end with code 1 and the original's text, for scripts that start either server. */
export function readOrExplain(args: readonly string[], command: 'serve' | 'up'): ServeOptions | undefined {
  try {
    return readServeOptions(args, command)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    const culprit = error.flag === '' ? '' : `Bad option: "--${error.flag}".\n`
    process.stderr.write(
      `Usage: conch ${command} [options], see conch ${command} --help\n\n${culprit}${error.message}\n`,
    )
    return undefined
  }
}
