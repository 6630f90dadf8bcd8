import { checkConfigs } from './check-configs.ts'
import { formatConfigs } from './format-configs.ts'
import { initConfig } from './init-config.ts'

const VERBS: ReadonlyMap<string, (paths: readonly string[], flags: ReadonlySet<string>) => Promise<number>> = new Map([
  ['check', checkConfigs],
  ['fmt', formatConfigs],
  ['init', initConfig],
])
const FLAGS: Readonly<Record<string, readonly string[]>> = { check: [], fmt: ['--check'], init: ['--print', '--force'] }

/** `conch config check|fmt|init PATH…`: 0 fine, 1 something is wrong, 2 asked for in the wrong way. */
export async function runConfig(args: readonly string[]): Promise<number> {
  const [verb = '', ...rest] = args
  const run = VERBS.get(verb)
  const flags = new Set(rest.filter((arg) => arg.startsWith('-')))
  const paths = rest.filter((arg) => !arg.startsWith('-'))
  const stray = [...flags].find((flag) => !FLAGS[verb]?.includes(flag))
  const mistake =
    run === undefined
      ? `unknown verb '${verb}': check, fmt or init`
      : stray !== undefined
        ? `unknown option ${stray}`
        : paths.length === 0
          ? 'name at least one file, model directory or repository'
          : undefined
  if (run === undefined || mistake !== undefined) {
    process.stderr.write(`conch config: ${mistake ?? ''}. See conch config --help.\n`)
    return 2
  }
  return run(paths, flags)
}
