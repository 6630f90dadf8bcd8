import type { LiveFrame } from '@conch/server/schemas'

/** Adds what came to what is known: in order, without doubles, and no more than `keep` of them. */
export function mergeFrames(
  known: readonly LiveFrame[],
  incoming: readonly LiveFrame[],
  keep: number,
): readonly LiveFrame[] {
  const last = known.at(-1)?.at ?? -Infinity
  const only = incoming.length === 1 ? incoming[0] : undefined
  if (only !== undefined && only.at > last) return [...known.slice(-(keep - 1)), only]
  const byTime = new Map([...known, ...incoming].map((frame) => [frame.at, frame]))
  return [...byTime.values()].sort((a, b) => a.at - b.at).slice(-keep)
}

/** Names of all models that appear. */
export function listModels(frames: readonly LiveFrame[]): string[] {
  return [...new Set(frames.flatMap((frame) => frame.models.map((row) => row.model)))].sort((a, b) =>
    a.localeCompare(b),
  )
}
