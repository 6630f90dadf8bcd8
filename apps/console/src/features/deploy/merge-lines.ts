export interface Merged {
  readonly text: string
  /** Places where both sides changed the same lines; there `mine` stays, and `theirs` follows as a comment. */
  readonly conflicts: number
}

/** Puts what changed from `base` to `theirs` into `mine`, line by line. */
export function mergeLines(base: string, mine: string, theirs: string): Merged {
  const [original, left, right] = [base, mine, theirs].map((text) => text.split('\n')) as [string[], string[], string[]]
  const toLeft = matchLines(original, left)
  const toRight = matchLines(original, right)
  const merged: string[] = []
  let conflicts = 0
  let [i, l, r] = [0, 0, 0]
  for (;;) {
    // The next line of the original that both sides still have.
    let end = i
    while (end < original.length && (toLeft[end] === undefined || toRight[end] === undefined)) end += 1
    const nextLeft = toLeft[end] ?? left.length
    const nextRight = toRight[end] ?? right.length
    const pieces = { was: original.slice(i, end), mine: left.slice(l, nextLeft), theirs: right.slice(r, nextRight) }
    const chosen = choosePiece(pieces)
    merged.push(...chosen.lines)
    if (chosen.conflict) conflicts += 1
    if (end >= original.length) return { text: merged.join('\n'), conflicts }
    merged.push(original[end] ?? '')
    ;[i, l, r] = [end + 1, nextLeft + 1, nextRight + 1]
  }
}

interface Pieces {
  readonly was: readonly string[]
  readonly mine: readonly string[]
  readonly theirs: readonly string[]
}

function choosePiece({ was, mine, theirs }: Pieces): { lines: readonly string[]; conflict: boolean } {
  const [before, left, right] = [was, mine, theirs].map((lines) => JSON.stringify(lines))
  if (left === before || left === right) return { lines: theirs, conflict: false }
  if (right === before) return { lines: mine, conflict: false }
  const indent = /^\s*/.exec(theirs[0] ?? mine[0] ?? '')?.[0] ?? ''
  const said = theirs.map((line) => `${indent}#   ${line.trim()}`)
  return { lines: [...mine, `${indent}# The new signature has here:`, ...said], conflict: true }
}

/** For each line of `from` its place in `to`, by their longest common subsequence; undefined for those that are gone. */
function matchLines(from: readonly string[], to: readonly string[]): readonly (number | undefined)[] {
  const width = to.length + 1
  const longest = new Uint32Array((from.length + 1) * width)
  for (let i = from.length - 1; i >= 0; i -= 1) {
    for (let j = to.length - 1; j >= 0; j -= 1) {
      longest[i * width + j] =
        from[i] === to[j]
          ? at(longest, (i + 1) * width + j + 1) + 1
          : Math.max(at(longest, (i + 1) * width + j), at(longest, i * width + j + 1))
    }
  }
  const places: (number | undefined)[] = []
  let j = 0
  for (let i = 0; i < from.length; i += 1) {
    const best = at(longest, i * width + j)
    while (j < to.length && from[i] !== to[j] && at(longest, i * width + j + 1) === best) j += 1
    const same = j < to.length && from[i] === to[j]
    places.push(same ? j : undefined)
    if (same) j += 1
  }
  return places
}

function at(table: Uint32Array, index: number): number {
  return table[index] ?? 0
}
