/** A number that was promised, and what it is on this machine in this run. Nothing here is a gate. */
export interface Target {
  readonly name: string
  readonly limit: number
  readonly measured: number
  readonly unit: string
  /** How it was measured, or what to hold against it. */
  readonly note: string
}

/** Prints it; `npm run bench` gathers all of them in one table. */
export function report(target: Target): void {
  const { name, limit, measured, unit, note } = target
  console.log(`${name}: ${measured} ${unit} (at most ${limit}) ${note}`)
  process.send?.({ target })
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}
