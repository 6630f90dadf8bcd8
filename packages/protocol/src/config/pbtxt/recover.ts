import type { Message } from '../descriptor.ts'
import type { Cursor } from './cursor.ts'

const OPENERS = new Set(['{', '[', '<'])
const CLOSERS = new Set(['}', ']', '>'])
const BEFORE_VALUE = new Set([':', '[', ',', '-', '=', '+', '.'])

/**
 * After a problem: goes to the next token where a field of the message can start, or to the bracket that closes it.
 * Brackets on the way are skipped as wholes. No recursion, whatever the text holds.
 */
export function skipToField(cursor: Cursor, message: Message, isRoot: boolean): void {
  let depth = 0
  let moved = false
  while (cursor.token.kind !== 'end' && !cursor.isFull) {
    const symbol = cursor.token.kind === 'symbol' ? cursor.tokenText() : ''
    if (depth === 0 && isFieldStart(cursor, message, moved)) return
    if (OPENERS.has(symbol)) depth += 1
    else if (CLOSERS.has(symbol)) {
      if (depth === 0 && symbol !== ']' && !isRoot) return
      depth = Math.max(0, depth - 1)
    }
    cursor.advance()
    moved = true
  }
  cursor.lost = true
}

function isFieldStart(cursor: Cursor, message: Message, moved: boolean): boolean {
  if (cursor.token.kind !== 'identifier') return false
  const { previous, text } = cursor
  const before = text.slice(previous.start, previous.end)
  if (previous.kind === 'symbol' && BEFORE_VALUE.has(before) && !endsField(cursor)) return false
  if (message.byName.has(cursor.tokenText())) return true
  return moved && previous.kind !== 'identifier'
}

/** A comma before a token that is followed by `:` or `{` separates fields, not values. */
function endsField(cursor: Cursor): boolean {
  const { previous, text, token } = cursor
  if (text.charAt(previous.start) !== ',') return false
  return /^\s{0,40}[:{<[]/.test(text.slice(token.end, token.end + 42))
}
