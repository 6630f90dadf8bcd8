import type { VersionRow } from '@conch/server/schemas'
import { describeState } from '../../ui/state.tsx'

const SHOWN = 3

/** Newest first. The text is for a table's cell, the title tells each version's state. */
export function describeVersions(versions: readonly VersionRow[]): { text: string; title: string } {
  const sorted = sortVersions(versions)
  const names = sorted.map((row) => row.version)
  const more = names.length - SHOWN
  const text = names.length === 0 ? '–' : names.slice(0, SHOWN).join(', ') + (more > 0 ? ` +${more}` : '')
  const title = sorted.map((row) => `${row.version}: ${describeState(row.state, row.reason)}`).join('\n')
  return { text, title }
}

/** Versions are whole numbers of any length. */
export function sortVersions<T extends { readonly version: string }>(versions: readonly T[]): T[] {
  return [...versions].sort((a, b) => b.version.length - a.version.length || (a.version < b.version ? 1 : -1))
}
