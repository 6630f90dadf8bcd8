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

/** Turns key presses into commands; remembers only whether a `g` was just pressed. */
export function makeKeyReader(letters: Readonly<Record<string, string>>): (press: KeyPress) => KeyCommand | undefined {
  let armedAt = -Infinity
  return (press) => {
    const { key, at } = press
    if ((press.ctrlKey || press.metaKey) && key.toLowerCase() === 'k') return 'palette'
    if (press.typing || press.ctrlKey || press.metaKey || press.altKey) return undefined
    const armed = at - armedAt < CHORD_MS
    armedAt = key === 'g' ? at : -Infinity
    const target = armed ? letters[key] : undefined
    if (target !== undefined) return { go: target }
    if (key === '?') return 'shortcuts'
    return key === '/' ? 'search' : undefined
  }
}
