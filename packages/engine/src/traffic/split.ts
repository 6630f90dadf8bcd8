/** Whoever may be picked. */
export interface Weighted {
  readonly version: string
  /** Hundredths of a percent. */
  readonly weight: number
}

/**
 * Smooth weighted round robin: of every 10 000 picks in a row each version gets exactly its weight, spread evenly, so
 * that a canary of 10 % gets one request in ten and not a burst. No chance in it: what is seen is what was written.
 */
export class Splitter {
  readonly #credits = new Map<string, number>()

  /** Undefined when nobody has a weight. Versions that are left out for a while lose nothing of what they had. */
  pick(arms: readonly Weighted[]): string | undefined {
    let total = 0
    let best: Weighted | undefined
    let most = -Infinity
    for (const arm of arms) {
      if (arm.weight <= 0) continue
      total += arm.weight
      const credit = (this.#credits.get(arm.version) ?? 0) + arm.weight
      this.#credits.set(arm.version, credit)
      if (credit > most) {
        most = credit
        best = arm
      }
    }
    if (best === undefined) return undefined
    this.#credits.set(best.version, most - total)
    return best.version
  }
}

/** Where a key belongs: always the same while the weights are; when they change, no more keys move than must. */
export function pickByKey(arms: readonly Weighted[], key: string): string | undefined {
  const total = arms.reduce((sum, { weight }) => sum + weight, 0)
  let left = (hashText(key) / 2 ** 32) * total
  for (const { version, weight } of arms) {
    if (left < weight) return version
    left -= weight
  }
  return undefined
}

/** FNV-1a with a finish that spreads similar keys: 32 bits, unsigned. */
export function hashText(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
