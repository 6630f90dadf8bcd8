import type { Field, Message } from '../descriptor.ts'
import { createMessage, messageOf, ROOT, scalarDefault } from '../descriptor.ts'
import type { Problem } from '../problem.ts'
import type { ModelConfig } from '../schema.ts'
import { adviseColon, adviseLexError, adviseToken, adviseTrailingComma, adviseUnknownField } from './advice.ts'
import { decodeBytes } from './bytes.ts'
import { Cursor } from './cursor.ts'
import { skipToField } from './recover.ts'
import { readScalar, UNREADABLE } from './scalars.ts'
import type { FieldNode, MessageNode, PbtxtTree } from './tree.ts'

export interface ParsedPbtxt {
  /** What could be read; complete when no problem is an error. */
  readonly config: ModelConfig
  readonly tree: PbtxtTree
  /** In the order of the original's parser: its own error is the first one. */
  readonly problems: Problem[]
}
type Target = Record<string, unknown>

/** Reads config.pbtxt. Never throws on a bad text: everything that is wrong is in `problems`. */
export function parsePbtxt(source: string | Uint8Array): ParsedPbtxt {
  const text = typeof source === 'string' ? source : decodeBytes(source)
  const hasMark = text.startsWith('\uFEFF')
  const cursor = new Cursor(text, hasMark ? 1 : 0)
  cursor.adviseLexError = adviseLexError
  if (hasMark) {
    const edits = [{ from: 0, to: 1, insert: '' }]
    const fix = { title: 'Remove the byte order mark', edits }
    cursor.warn(
      { ...cursor.token, start: 0, end: 1 },
      'the byte order mark at the start is skipped; Triton refuses it',
      fix,
    )
  }
  cursor.advance()
  const config = createMessage(ROOT)
  const root: MessageNode = { kind: 'message', type: ROOT, start: 0, end: text.length, line: 1, fields: [] }
  const message = messageOf(ROOT)
  while (cursor.token.kind !== 'end' && !cursor.isFull) {
    if (readField(cursor, { message, target: config, fields: root.fields })) continue
    skipToField(cursor, message, true)
  }
  const tree = { text, root, comments: cursor.lexer.comments }
  return { config: config as unknown as ModelConfig, tree, problems: cursor.problems }
}

/** The message being filled. */
interface Open {
  readonly message: Message
  readonly target: Target
  readonly fields: FieldNode[]
  /** Entries read so far, by map; made when the first map comes. */
  counts?: Map<string, number>
}

function readField(cursor: Cursor, open: Open): boolean {
  const start = cursor.token
  if (cursor.isAt('[')) return readExtension(cursor, open.message)
  if (start.kind !== 'identifier') {
    return cursor.fail(`Expected identifier, got: ${cursor.tokenText()}`, adviseStart(cursor, open))
  }
  const name = cursor.tokenText()
  cursor.advance()
  const field = open.message.byName.get(name)
  const node: FieldNode = {
    name,
    field,
    start: start.start,
    nameEnd: start.end,
    end: start.end,
    separatorEnd: start.end,
    line: start.line + 1,
    list: undefined,
    values: [],
  }
  open.fields.push(node)
  if (field === undefined) {
    const original = `Message type "${open.message.name}" has no field named "${name}".`
    return cursor.fail(original, adviseUnknownField(cursor, open.message, name))
  }
  cursor.path.push(pathStep(field, open))
  const done = readRest(cursor, { open, node, field })
  cursor.path.pop()
  node.end = Math.max(node.end, cursor.previous.end)
  if (done && (cursor.isAt(',') || cursor.isAt(';'))) cursor.advance()
  node.separatorEnd = Math.max(node.end, cursor.previous.end)
  return done
}

function adviseStart(cursor: Cursor, open: Open): ReturnType<typeof adviseToken> {
  const { token } = cursor
  if (token.kind === 'end') return { hint: 'a closing } is missing' }
  if (cursor.isAt('}')) return { hint: 'one } too many' }
  if (
    cursor.isAt('{') &&
    open.fields.length === 0 &&
    open.message.name === ROOT &&
    !cursor.text.startsWith('{{', token.start)
  ) {
    return { hint: 'config.pbtxt is protobuf text, not JSON, and has no braces around it' }
  }
  return adviseToken(cursor)
}

function pathStep(field: Field, open: Open): string {
  if (field.label === 'one' || (field.label === 'many' && field.type !== 'message')) return field.name
  const list = open.target[field.name]
  const count = Array.isArray(list) ? list.length : (open.counts?.get(field.name) ?? 0)
  return `${field.name}[${String(count)}]`
}

function readExtension(cursor: Cursor, message: Message): false {
  cursor.advance()
  const parts: string[] = []
  do {
    if (cursor.token.kind !== 'identifier') return cursor.fail(`Expected identifier, got: ${cursor.tokenText()}`)
    parts.push(cursor.tokenText())
    cursor.advance()
  } while (cursor.tryTake('.'))
  if (!cursor.tryTake(']')) return cursor.fail(`Expected "]", found "${cursor.tokenText()}".`)
  return cursor.fail(`Extension "${parts.join('.')}" is not defined or is not an extension of "${message.name}".`)
}

/** The field being read. */
interface Here {
  readonly open: Open
  readonly node: FieldNode
  readonly field: Field
}

function readRest(cursor: Cursor, here: Here): boolean {
  const { open, field } = here
  if (!checkOnce(cursor, open, field)) return false
  const isMessage = field.type === 'message' || field.label === 'map'
  if (!cursor.tryTake(':') && !isMessage) {
    return cursor.fail(`Expected ":", found "${cursor.tokenText()}".`, adviseColon(cursor))
  }
  if (field.label !== 'one' && cursor.isAt('[')) return readList(cursor, here)
  return isMessage ? readMessage(cursor, here) : readValue(cursor, here)
}

/** A field without presence may come again while it has its default, as in the original. */
function checkOnce(cursor: Cursor, open: Open, field: Field): boolean {
  if (field.label !== 'one') return true
  const { target, message } = open
  if (isSet(target, field)) {
    const first = open.fields.find((node) => node.name === field.name)?.line
    const hint = first === undefined ? undefined : `first given on line ${String(first)}`
    return cursor.fail(`Non-repeated field "${field.name}" is specified multiple times.`, { hint })
  }
  if (field.oneof === '') return true
  const other = message.fields.find((one) => one.oneof === field.oneof && target[one.name] !== undefined)
  if (other === undefined) return true
  const original = `Field "${field.name}" is specified along with field "${other.name}", another member of oneof "${field.oneof}".`
  return cursor.fail(original, { hint: `only one of them can be used; remove ${other.name} or ${field.name}` })
}

function isSet(target: Target, field: Field): boolean {
  const value = target[field.name]
  return value !== undefined && (field.type === 'message' || field.oneof !== '' || value !== scalarDefault(field))
}

function readList(cursor: Cursor, here: Here): boolean {
  const { node } = here
  const list = { open: cursor.token.start, close: cursor.token.end }
  node.list = list
  cursor.advance()
  const done = cursor.tryTake(']') || readItems(cursor, here)
  list.close = cursor.previous.end
  return done
}

function readItems(cursor: Cursor, here: Here): boolean {
  const { open, field } = here
  const isMessage = field.type === 'message' || field.label === 'map'
  for (;;) {
    cursor.path[cursor.path.length - 1] = pathStep(field, open)
    if (!(isMessage ? readMessage(cursor, here) : readValue(cursor, here))) {
      return cursor.tryTake(']')
    }
    if (cursor.tryTake(']')) return true
    if (cursor.tryTake(',')) continue
    cursor.path[cursor.path.length - 1] = field.name
    if (!failSeparator(cursor, isMessage)) return false
  }
}

/** Says that a comma is missing. True when the list can be read on as if it were there. */
function failSeparator(cursor: Cursor, isMessage: boolean): boolean {
  const { previous } = cursor
  const goesOn = isMessage
    ? cursor.isAt('{') || cursor.isAt('<')
    : ['integer', 'float', 'string'].includes(cursor.token.kind)
  const [insert, what] = goesOn
    ? [',', 'a comma is missing between two entries of the list']
    : [']', 'the list is not closed with ]']
  const advises = goesOn || cursor.token.kind === 'identifier' || cursor.token.kind === 'end' || cursor.isAt('}')
  const fix = { title: `Add ${insert}`, edits: [{ from: previous.end, to: previous.end, insert }] }
  const advice = advises ? { hint: what, fix, expected: `"${insert}"` } : { expected: '"," or "]"' }
  cursor.fail(`Expected ",", found "${cursor.tokenText()}".`, advice)
  return goesOn && !cursor.isFull
}

function readValue(cursor: Cursor, { open, node, field }: Here): boolean {
  const { token } = cursor
  const value = readScalar(cursor, field)
  const isRead = value !== UNREADABLE
  const end = Math.max(token.start, cursor.previous.end)
  const known = isRead ? value : undefined
  node.values.push({
    kind: 'scalar',
    start: token.start,
    end: isRead ? end : token.end,
    line: token.line + 1,
    value: known,
  })
  if (!isRead) return false
  if (field.label === 'many') (open.target[field.name] as unknown[]).push(value)
  else open.target[field.name] = value
  return true
}

function readMessage(cursor: Cursor, { open, node, field }: Here): boolean {
  const { token } = cursor
  const closer = cursor.isAt('<') ? '>' : '}'
  if (!cursor.tryTake('<') && !cursor.tryTake('{')) {
    return cursor.fail(`Expected "{", found "${cursor.tokenText()}".`, adviseMessage(cursor, field))
  }
  const message = messageOf(field.label === 'map' ? field.entry : field.typeName)
  const target = createMessage(message.name)
  const value: MessageNode = {
    kind: 'message',
    type: message.name,
    start: token.start,
    end: token.end,
    line: token.line + 1,
    fields: [],
  }
  node.values.push(value)
  // Set before it is read: what could be read of a broken message is still shown.
  if (field.label === 'many') (open.target[field.name] as unknown[]).push(target)
  else if (field.label === 'one') open.target[field.name] = target
  readFields(cursor, { message, target, fields: value.fields })
  if (field.label === 'map') addEntry(open, target, field)
  const closed = cursor.tryTake(closer)
  if (!closed) {
    cursor.fail(`Expected "${closer}", found "${cursor.tokenText()}".`)
    cursor.advance()
  }
  value.end = cursor.previous.end
  return true
}

function readFields(cursor: Cursor, open: Open): void {
  while (!cursor.isAt('>') && !cursor.isAt('}') && !cursor.isFull) {
    if (!readField(cursor, open)) skipToField(cursor, open.message, false)
  }
}

function adviseMessage(cursor: Cursor, field: Field): ReturnType<typeof adviseToken> {
  const expected = '"{"'
  if (cursor.isAt(']')) return { expected, ...adviseTrailingComma(cursor) }
  if (cursor.isAt('[')) return { expected, hint: `${field.name} takes one value, not a list` }
  if (cursor.token.kind === 'symbol') return { expected, ...adviseToken(cursor) }
  return { expected, hint: `${field.name} is written ${field.name} { … }` }
}

function addEntry(open: Open, entry: Target, field: Field): void {
  const map = open.target[field.name] as Target
  map[String(entry['key'] as string | bigint)] = entry['value'] ?? createMessage(field.typeName)
  open.counts ??= new Map()
  open.counts.set(field.name, (open.counts.get(field.name) ?? 0) + 1)
}
