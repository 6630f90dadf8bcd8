import type { Field, Message } from '../descriptor.ts'
import { allMessages, enumerationOf } from '../descriptor.ts'
import type { Fix } from '../problem.ts'
import { unescapeLiteral } from './bytes.ts'
import type { Advice, Cursor } from './cursor.ts'
import type { LexError, Token } from './lexer.ts'
import { guessEnum, nameCharacter, nearest } from './spelling.ts'

function replaceToken(title: string, token: Token, insert: string): Fix {
  return { title, edits: [{ from: token.start, to: token.end, insert }] }
}

/** What was probably meant by a token that fits nowhere: a template's variable, another language's comment, … */
export function adviseToken(cursor: Cursor): Advice {
  const { token, text } = cursor
  const rest = text.slice(token.start, token.start + 200)
  const variable = /^\$(?:\{[^}\n]*\}|\w+)/.exec(rest)?.[0]
  if (variable !== undefined) return { hint: `template variable ${variable} was not filled in` }
  if (/^\{\{[^\n]*?\}\}/.test(rest))
    return { hint: `template ${/^\{\{[^\n]*?\}\}/.exec(rest)?.[0] ?? ''} was not filled in` }
  if (rest.startsWith('//')) {
    const edits = [{ from: token.start, to: token.start + 2, insert: '#' }]
    return { hint: 'comments start with #', fix: { title: 'Write the comment with #', edits } }
  }
  if (rest.startsWith('/*')) return { hint: 'comments start with # and end with the line' }
  return {}
}

export function adviseLexError(error: LexError, cursor: Cursor): Advice {
  const { text } = cursor
  if (error.message.startsWith('Interpreting non ascii')) return adviseCharacter(text, error.offset)
  if (error.message.startsWith('String literals cannot cross')) {
    const edits = [{ from: lineEnd(text, error.offset), to: lineEnd(text, error.offset), insert: '"' }]
    return {
      hint: 'the closing quote is missing on this line; use \\n for a line break',
      fix: { title: 'Add the closing quote', edits },
    }
  }
  if (error.message.startsWith('Invalid control characters') && looksLikeUtf16(text)) return { hint: UTF16 }
  if (error.message.startsWith('Invalid escape')) return { hint: 'write a backslash as \\\\' }
  return {}
}

const UTF16 = 'the file looks like UTF-16; save it as UTF-8'

function looksLikeUtf16(text: string): boolean {
  const head = text.slice(0, 200)
  return head.split('\0').length - 1 > head.length / 4
}

function adviseCharacter(text: string, offset: number): Advice {
  if (looksLikeUtf16(text)) return { hint: UTF16 }
  const char = String.fromCodePoint(text.codePointAt(offset) ?? 0)
  const { label, replacement } = nameCharacter(char)
  if (replacement === undefined) return { hint: label }
  const edits = [{ from: offset, to: offset + char.length, insert: replacement }]
  return {
    hint: label,
    fix: { title: `Replace it by ${replacement.trim() === '' ? 'a space or nothing' : replacement}`, edits },
  }
}

function lineEnd(text: string, offset: number): number {
  const end = text.indexOf('\n', offset)
  const stop = end < 0 ? text.length : end
  return text[stop - 1] === '\r' ? stop - 1 : stop
}

export function adviseInteger(cursor: Cursor, field: Field): Advice {
  const expected = field.type === 'float' || field.type === 'double' ? 'a number' : `an integer (${field.type})`
  return { expected, ...(cursor.token.kind === 'symbol' ? adviseSymbol(cursor, field) : adviseNumber(cursor)) }
}

function adviseNumber(cursor: Cursor): Advice {
  const { token } = cursor
  const number = /^["']?(\d+)(?:\.0*)?["']?$/.exec(cursor.tokenText())?.[1]
  if (number === undefined) return {}
  if (token.kind === 'string') {
    return { hint: 'numbers are written without quotes', fix: replaceToken('Remove the quotes', token, number) }
  }
  return { hint: 'only whole numbers are allowed', fix: replaceToken(`Write ${number}`, token, number) }
}

/** A symbol where a value was due. */
function adviseSymbol(cursor: Cursor, field: Field): Advice {
  const { token } = cursor
  if (cursor.isAt('+')) return { hint: 'write the number without +', fix: replaceToken('Remove the +', token, '') }
  if (cursor.isAt('[') && field.label === 'one') return { hint: `${field.name} takes one value, not a list` }
  if (cursor.isAt(']')) return adviseTrailingComma(cursor)
  if (cursor.isAt('-') && field.type.startsWith('u')) return { hint: `${field.name} cannot be negative` }
  return adviseToken(cursor)
}

export function adviseTrailingComma(cursor: Cursor): Advice {
  const { previous, text } = cursor
  if (text.slice(previous.start, previous.end) !== ',') return {}
  return { hint: 'a list must not end with a comma', fix: replaceToken('Remove the trailing comma', previous, '') }
}

export function adviseString(cursor: Cursor, field: Field): Advice {
  const { token } = cursor
  const expected = 'a string in quotes'
  if (token.kind === 'identifier' || token.kind === 'integer' || token.kind === 'float') {
    const fix = replaceToken('Add quotes', token, `"${cursor.tokenText()}"`)
    return { expected, hint: 'strings are written in quotes', fix }
  }
  return { expected, ...adviseSymbol(cursor, field) }
}

export function adviseBoolean(cursor: Cursor): Advice {
  const { token } = cursor
  const word = cursor.tokenText().replaceAll(/["']/g, '').toLowerCase()
  const expected = 'true or false'
  const meaning = ['yes', 'y', 'on', 'true'].includes(word)
    ? 'true'
    : ['no', 'n', 'off', 'false'].includes(word)
      ? 'false'
      : ''
  if (meaning === '') return { expected, hint: 'write true or false', ...adviseToken(cursor) }
  return { expected, hint: `write ${meaning}`, fix: replaceToken(`Write ${meaning}`, token, meaning) }
}

/** Takes the current token for the value of an enum that is not written as it should be. */
export function adviseEnum(cursor: Cursor, field: Field): Advice {
  const { token } = cursor
  const enumeration = enumerationOf(field.typeName)
  const names = [...enumeration.values.keys()]
  const expected = `one of ${names.join(', ')}`
  const isQuoted = token.kind === 'string'
  if (token.kind === 'symbol' || token.kind === 'end') {
    return { expected, ...(cursor.isAt(']') ? adviseTrailingComma(cursor) : adviseToken(cursor)) }
  }
  const word = isQuoted ? unescapeLiteral(cursor.tokenText()) : cursor.tokenText()
  const meant = guessEnum(word, names)
  const advice = isQuoted ? 'enumeration values are written without quotes' : ''
  if (meant === undefined) return { expected, hint: advice === '' ? `expected ${expected}` : advice }
  const hint = meant === word ? advice : [advice, `did you mean ${meant}?`].filter((part) => part !== '').join('; ')
  return { expected, hint, fix: replaceToken(`Write ${meant}`, token, meant) }
}

/** A name that the message does not have; `name` is the token before the current one. */
export function adviseUnknownField(cursor: Cursor, message: Message, name: string): Advice {
  const { previous } = cursor
  const near = nearest(name, message.byName.keys())
  if (near !== undefined) return { hint: `did you mean ${near}?`, fix: replaceToken(`Write ${near}`, previous, near) }
  if (message.name.endsWith('Entry')) {
    return { hint: `an entry of a map is written { key: "${name}" value${isText(message) ? ': "…"' : ' { … }'} }` }
  }
  const homes = [...allMessages()].filter((one) => !one.name.endsWith('Entry') && one.byName.has(name))
  if (homes.length === 0) return {}
  return { hint: `${name} belongs to ${homes.map((home) => home.name.replace('inference.', '')).join(' or ')}` }
}

function isText(entry: Message): boolean {
  return entry.byName.get('value')?.type === 'string'
}

/** A `:` was needed in front of the current token. */
export function adviseColon(cursor: Cursor): Advice {
  const { previous, token } = cursor
  const expected = '":"'
  if (cursor.isAt('=')) return { expected, hint: 'write : instead of =', fix: replaceToken('Write :', token, ':') }
  const edits = [{ from: previous.end, to: previous.end, insert: ':' }]
  return { expected, hint: 'a colon is missing after the name', fix: { title: 'Add the colon', edits } }
}
