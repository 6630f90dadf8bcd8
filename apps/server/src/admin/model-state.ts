import type { IndexEntry } from '@conch/engine'
import type { StateChange, VersionState } from './model.schema.ts'
import type { VersionRow } from './models/models.schema.ts'

/** One model of the repository index: its versions, and the one word for all of them. */
export interface IndexedModel extends StateChange {
  readonly name: string
  /** Highest first. */
  readonly versions: readonly VersionRow[]
}

/** Versions that were unloaded on purpose are not a model's trouble. */
const WEIGHT: Readonly<Record<VersionState, number>> = {
  READY: 5,
  LOADING: 4,
  UNLOADING: 3,
  UNAVAILABLE: 2,
  UNKNOWN: 1,
}

export function groupIndex(entries: readonly IndexEntry[]): readonly IndexedModel[] {
  const models = new Map<string, IndexEntry[]>()
  for (const entry of entries) {
    const rows = models.get(entry.name)
    if (rows === undefined) models.set(entry.name, [entry])
    else rows.push(entry)
  }
  return [...models].map(([name, rows]) => summarizeModel(name, rows)).sort((a, b) => (a.name < b.name ? -1 : 1))
}

function summarizeModel(name: string, entries: readonly IndexEntry[]): IndexedModel {
  const versions = entries
    .flatMap(({ version, state, reason }): VersionRow[] =>
      version === undefined ? [] : [{ version, state: state ?? 'UNKNOWN', reason }],
    )
    .sort((a, b) => Number(b.version) - Number(a.version))
  const best = versions.reduce<VersionRow | undefined>(
    (found, row) => (found === undefined || WEIGHT[row.state] > WEIGHT[found.state] ? row : found),
    undefined,
  )
  const loose = entries.find(({ version }) => version === undefined)
  if (best === undefined) return { name, versions, state: loose?.state ?? 'UNKNOWN', reason: loose?.reason ?? '' }
  // A failed newer version is worth knowing although an older one still answers.
  const failed = versions.find(({ state, reason }) => state === 'UNAVAILABLE' && reason !== '' && reason !== 'unloaded')
  return {
    name,
    versions,
    state: best.state,
    reason: best.reason || (failed === undefined ? '' : `${failed.version}: ${failed.reason}`),
  }
}

/** The state of a model now, after something was asked of it. */
export async function readStateOf(
  engine: { index(readyOnly: boolean): Promise<readonly IndexEntry[]> },
  model: string,
): Promise<StateChange> {
  const entries = (await engine.index(false)).filter(({ name }) => name === model)
  const found = groupIndex(entries)[0]
  return { state: found?.state ?? 'UNKNOWN', reason: found?.reason ?? '' }
}

/** How a server that does not load on demand learns of a change. */
export function explainPickUp({
  server,
  pollSeconds,
}: {
  server: { controlMode: string }
  pollSeconds: number
}): string {
  if (server.controlMode === 'poll')
    return `the server looks at its repositories every ${pollSeconds} s and takes it up by itself`
  return 'the server runs with --model-control-mode=none: it takes this up at its next start'
}
