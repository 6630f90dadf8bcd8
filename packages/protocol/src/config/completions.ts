import { declare } from './describe.ts'
import type { Field, Message } from './descriptor.ts'
import { enumerationOf, messageOf, ROOT } from './descriptor.ts'
import type { Token } from './pbtxt/lexer.ts'
import { Lexer } from './pbtxt/lexer.ts'

export interface Completion {
  readonly label: string
  /** The declaration, or the number of an enumeration value. */
  readonly detail: string
  readonly doc: string
  /** Replaces the text between `from` and `to`. */
  readonly insert: string
  readonly from: number
  readonly to: number
}

interface Level {
  /** Undefined inside something that the schema does not have. */
  readonly message: Message | undefined
  readonly used: Set<string>
  /** The field whose value is due. */
  field: Field | undefined
  name: string
  colon: boolean
  inList: boolean
}

/** What can be written at an offset: fields of the message around it, or values of the field in front of it. */
export function completionsAt(text: string, offset: number): Completion[] {
  const lexer = new Lexer(text, text.startsWith('\uFEFF') ? 1 : 0, () => undefined)
  const levels: Level[] = [openLevel(messageOf(ROOT))]
  const token = followUntil(lexer, levels, offset)
  const isQuoted = token?.kind === 'string' && offset < token.end
  if (isQuoted || lexer.comments.some((comment) => comment.start < offset && offset <= comment.end)) return []
  if (token !== undefined && token.kind !== 'identifier') followToken(levels, token, text)
  const level = levels.at(-1)
  if (level?.message === undefined) return []
  const word = token?.kind === 'identifier' ? token : { start: offset, end: offset }
  return suggest(level, level.message, { from: word.start, to: word.end })
}

/** Returns the token that the offset stands in or right behind. */
function followUntil(lexer: Lexer, levels: Level[], offset: number): Token | undefined {
  for (let token = lexer.next(); token.kind !== 'end'; token = lexer.next()) {
    if (token.end >= offset) return token.start < offset ? token : undefined
    followToken(levels, token, lexer.text)
  }
  return undefined
}

function openLevel(message: Message | undefined): Level {
  return { message, used: new Set(), field: undefined, name: '', colon: false, inList: false }
}

function followToken(levels: Level[], token: Token, text: string): void {
  const level = levels.at(-1)
  if (level === undefined) return
  if (token.kind === 'symbol') followSymbol(levels, level, text.charAt(token.start))
  else followWord(level, token, text.slice(token.start, token.end))
}

function followSymbol(levels: Level[], level: Level, symbol: string): void {
  if (symbol === '{' || symbol === '<') levels.push(openLevel(messageBelow(level)))
  else if (symbol === '}' || symbol === '>') closeLevel(levels)
  else if (symbol === ':') level.colon = true
  else if (symbol === '[') level.inList = true
  else if (symbol === ']') endField(level)
  else if (!level.inList && (symbol === ',' || symbol === ';')) endField(level)
}

function followWord(level: Level, token: Token, word: string): void {
  const isValue = level.name !== '' && (level.colon || level.inList)
  if (isValue) {
    if (!level.inList) endField(level)
    return
  }
  if (token.kind !== 'identifier') return
  level.name = word
  level.field = level.message?.byName.get(word)
  level.used.add(word)
}

function closeLevel(levels: Level[]): void {
  if (levels.length > 1) levels.pop()
  const outer = levels.at(-1)
  if (outer !== undefined && !outer.inList) endField(outer)
}

function endField(level: Level): void {
  level.field = undefined
  level.name = ''
  level.colon = false
  level.inList = false
}

function messageBelow({ field }: Level): Message | undefined {
  if (field === undefined) return undefined
  if (field.label === 'map') return messageOf(field.entry)
  return field.type === 'message' ? messageOf(field.typeName) : undefined
}

interface Range {
  readonly from: number
  readonly to: number
}

function suggest(level: Level, message: Message, range: Range): Completion[] {
  if (level.name !== '' && (level.colon || level.inList))
    return level.field === undefined ? [] : suggestValues(level.field, range)
  const oneofs = new Set(message.fields.filter((field) => level.used.has(field.name)).map((field) => field.oneof))
  const isFree = (field: Field): boolean =>
    field.label !== 'one' || (!level.used.has(field.name) && (field.oneof === '' || !oneofs.has(field.oneof)))
  return message.fields.filter(isFree).map((field) => ({
    label: field.name,
    detail: declare(field),
    doc: field.doc,
    insert: insertFor(field),
    ...range,
  }))
}

function suggestValues(field: Field, range: Range): Completion[] {
  if (field.type === 'bool') {
    return ['true', 'false'].map((label) => ({ label, detail: 'bool', doc: '', insert: label, ...range }))
  }
  if (field.type !== 'enum') return []
  const enumeration = enumerationOf(field.typeName)
  return [...enumeration.values]
    .filter(([name]) => name !== 'TYPE_INVALID')
    .map(([name, number]) => ({
      label: name,
      detail: String(number),
      doc: enumeration.docs[name] ?? '',
      insert: name,
      ...range,
    }))
}

function insertFor(field: Field): string {
  if (field.label === 'map')
    return `${field.name} { key: ${field.keyType === 'string' ? '""' : ''} value${field.type === 'message' ? ' {  }' : ': ""'} }`
  if (field.type === 'message') return `${field.name} {  }`
  if (field.label === 'many') return `${field.name}: [  ]`
  return field.type === 'string' ? `${field.name}: ""` : `${field.name}: `
}
