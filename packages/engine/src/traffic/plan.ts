import type { TrafficPolicy } from '@conch/protocol'
import type { Weighted } from './split.ts'

/** Who gets what once the versions that were rolled back have given up their share; hundredths of a percent. */
export function planShares({ split, rollback, rolledBack }: TrafficPolicy): readonly Weighted[] {
  const gone = new Set(rolledBack.map(({ version }) => version))
  const shares = new Map<string, number>()
  for (const { version, weight } of split) {
    const to = gone.has(version) && rollback !== undefined ? rollback.to.version : version
    // What is rolled back without a target leaves its share to those that remain.
    const share = gone.has(to) ? 0 : Math.round(weight * 100)
    shares.set(to, (shares.get(to) ?? 0) + share)
  }
  return Array.from(shares, ([version, weight]) => ({ version, weight }))
    .filter(({ weight }) => weight > 0)
    .toSorted((a, b) => (BigInt(a.version) < BigInt(b.version) ? -1 : 1))
}
