/** The candidate nearest to a word, within a third of its letters; undefined when nothing is near. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length > 64) return undefined
  const plain = normalise(word)
  let best: string | undefined
  let least = Math.max(1, Math.floor(plain.length / 3)) + 0.5
  for (const candidate of candidates) {
    const distance = countEdits(plain, normalise(candidate))
    if (distance < least) {
      least = distance
      best = candidate
    }
  }
  return best
}

/** camelCase, kebab-case and capitals are not differences. */
function normalise(word: string): string {
  return word.replaceAll(/[^a-zA-Z0-9]/g, '').toLowerCase()
}

function countEdits(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, swap))
    }
    row = next
  }
  return row[b.length] ?? 0
}

const NAMES: Readonly<Record<string, readonly [name: string, replacement: string]>> = {
  '\u201c': ['a typographic quote', '"'],
  '\u201d': ['a typographic quote', '"'],
  '\u201e': ['a typographic quote', '"'],
  '\u00ab': ['a typographic quote', '"'],
  '\u00bb': ['a typographic quote', '"'],
  '\u2018': ['a typographic quote', "'"],
  '\u2019': ['a typographic quote', "'"],
  '\u00a0': ['a no-break space', ' '],
  '\u202f': ['a narrow no-break space', ' '],
  '\u3000': ['an ideographic space', ' '],
  '\u200b': ['a zero-width space', ''],
  '\ufeff': ['a byte order mark', ''],
  '\u2013': ['a dash', '-'],
  '\u2014': ['a dash', '-'],
  '\u2212': ['a minus sign', '-'],
  '\uff1a': ['a full-width colon', ':'],
  '\uff0c': ['a full-width comma', ','],
  '\ufffd': ['the mark of bytes that are not UTF-8', ''],
}

export interface CharacterName {
  /** As in `“ (U+201C) is a typographic quote`. */
  readonly label: string
  /** What was most likely meant. */
  readonly replacement: string | undefined
}

export function nameCharacter(char: string): CharacterName {
  const point = char.codePointAt(0) ?? 0
  if (point >= 0xdc80 && point <= 0xdcff) {
    return { label: `byte 0x${(point - 0xdc00).toString(16)} is not UTF-8`, replacement: undefined }
  }
  const code = `U+${point.toString(16).toUpperCase().padStart(4, '0')}`
  const known = NAMES[char]
  const shown = /^[\p{L}\p{N}\p{P}\p{S}]$/u.test(char) ? `${char} (${code})` : code
  if (known === undefined)
    return { label: `${shown} is only allowed inside quotes and comments`, replacement: undefined }
  return { label: `${shown} is ${known[0]}`, replacement: known[1] }
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  FLOAT: 'TYPE_FP32',
  FLOAT32: 'TYPE_FP32',
  FLOAT16: 'TYPE_FP16',
  HALF: 'TYPE_FP16',
  FLOAT64: 'TYPE_FP64',
  DOUBLE: 'TYPE_FP64',
  BFLOAT16: 'TYPE_BF16',
  BYTES: 'TYPE_STRING',
  STR: 'TYPE_STRING',
  INT: 'TYPE_INT32',
  LONG: 'TYPE_INT64',
  BOOLEAN: 'TYPE_BOOL',
}

/** The enumeration value that was meant: capitals, a missing prefix or another framework's word for a type. */
export function guessEnum(word: string, names: readonly string[]): string | undefined {
  const upper = word.toUpperCase()
  const exact = names.find((name) => name === upper || name.endsWith(`_${upper}`))
  if (exact !== undefined) return exact
  const bare = upper.replace(/^TYPE_/, '')
  const type = Object.hasOwn(TYPE_WORDS, bare) ? TYPE_WORDS[bare] : undefined
  return type !== undefined && names.includes(type) ? type : nearest(word, names)
}
