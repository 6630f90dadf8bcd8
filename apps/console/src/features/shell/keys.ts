export interface KeyPress {
  readonly key: string
  readonly ctrlKey: boolean
  readonly metaKey: boolean
  readonly altKey: boolean
  /** The focus is in a field where letters are text. */
  readonly typing: boolean
  /** Milliseconds on any one clock. */
  readonly at: number
}
export type KeyCommand = { readonly go: string } | 'palette' | 'shortcuts' | 'search'

/** A `g` counts as the beginning of a jump for this long. */
const CHORD_MS = 1200

const SINGLE: Readonly<Record<string, KeyCommand>> = { '?': 'shortcuts', '/': 'search' }

/** Turns key presses into commands; remembers only whether a `g` was just pressed. */
export function makeKeyReader(letters: Readonly<Record<string, string>>): (press: KeyPress) => KeyCommand | undefined {
  let armedAt = -Infinity
  return (press) => {
    const { key, at, typing, altKey } = press
    const control = press.ctrlKey || press.metaKey
    if (control) return key.toLowerCase() === 'k' ? 'palette' : undefined
    if (typing || altKey) return undefined
    const target = at - armedAt < CHORD_MS ? letters[key] : undefined
    armedAt = key === 'g' ? at : -Infinity
    return target === undefined ? SINGLE[key] : { go: target }
  }
}
