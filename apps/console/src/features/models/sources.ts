import type { ModelDetails } from '@conch/server/schemas'

/** Versions that have a source in Python, newest first. */
export function listSources({ files }: Pick<ModelDetails, 'files'>): readonly string[] {
  return files.flatMap(({ path }) => /^(\d+)\/model\.py$/.exec(path)?.[1] ?? []).sort((a, b) => Number(b) - Number(a))
}
