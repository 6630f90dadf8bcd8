/** Shapes on one side of a reshape and on the other, without the batch dimension; variable ones are matched in order. */
export interface Reshape {
  readonly from: readonly number[]
  readonly to: readonly number[]
  /** Leading dimensions that are kept: 1 for models that batch. */
  readonly kept: number
}

export function reshape(shape: readonly number[], { from, to, kept }: Reshape): readonly number[] {
  const variable: number[] = []
  for (const [index, dim] of from.entries()) if (dim === -1) variable.push(shape[index + kept] ?? 0)
  let next = 0
  return [...shape.slice(0, kept), ...to.map((dim) => (dim === -1 ? (variable[next++] ?? 0) : dim))]
}

export function isSameShape(a: readonly number[], b: readonly number[]): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}
