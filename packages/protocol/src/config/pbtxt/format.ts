import { Lexer } from './lexer.ts'
import { parsePbtxt } from './parser.ts'
import type { FieldNode, MessageNode, PbtxtTree, ScalarNode, ValueNode } from './tree.ts'

/** Messages written on one line stay there up to this width. */
const WIDEST = 100

/**
 * The text in the usual layout: 2 spaces, one field a line, no separators between fields. Order, comments, single blank
 * lines and the spelling of values stay. A text with errors is returned as it is.
 */
export function formatPbtxt(text: string): string {
  const { tree, problems } = parsePbtxt(text)
  if (problems.some((problem) => problem.severity === 'error')) return text
  return new Formatter(tree).run()
}

class Formatter {
  private readonly tree: PbtxtTree
  private readonly lines: string[] = []
  private nextComment = 0
  /** Whether a comment ends the last line: nothing can follow there. */
  private isClosed = true
  /** Behind the last thing of the source that was written. */
  private done = 0

  constructor(tree: PbtxtTree) {
    this.tree = tree
    if (tree.text.startsWith('\uFEFF')) this.done = 1
  }

  run(): string {
    this.writeFields(this.tree.root, '')
    this.writeComments(this.tree.text.length + 1, '')
    return this.lines.length === 0 ? '' : `${this.lines.join('\n')}\n`
  }

  private writeFields(message: MessageNode, indent: string): void {
    for (const field of message.fields) {
      this.writeComments(field.start, indent)
      this.writeField(field, indent)
      // A comment between a value and its separator belongs to the line too.
      this.done = Math.max(this.done, field.separatorEnd)
    }
  }

  private writeField(field: FieldNode, indent: string): void {
    const [value] = field.values
    const isMessage = value?.kind === 'message'
    const flat = this.tryFlat(field)
    if (flat !== undefined && indent.length + flat.length <= WIDEST) {
      this.writeComments(field.end, indent)
      this.writeLine(indent + flat, field.start, field.separatorEnd)
    } else if (field.list !== undefined) this.writeList(field, indent, isMessage ? ' ' : ': ')
    else if (isMessage) this.writeMessage(value, indent, { before: `${field.name} `, after: '', start: field.start })
  }

  private writeList(field: FieldNode, indent: string, glue: string): void {
    const { list, values } = field
    if (list === undefined) return
    this.writeLine(`${indent}${field.name}${glue}[`, field.start, list.open + 1)
    const inner = `${indent}  `
    for (const [index, value] of values.entries()) {
      const after = index === values.length - 1 ? '' : ','
      this.writeComments(value.start, inner)
      const flat = this.isFlat(value) ? this.renderValue(value) : undefined
      if (flat === undefined && value.kind === 'message') {
        this.writeMessage(value, inner, { before: '', after, start: value.start })
      } else {
        this.writeComments(value.end, inner)
        this.writeLine(inner + (flat ?? this.renderValue(value)) + after, value.start, value.end)
      }
      this.done = Math.max(this.done, this.commaEnd(value.end, list.close))
    }
    this.writeComments(list.close - 1, inner)
    this.writeLine(`${indent}]`, this.done, field.separatorEnd)
  }

  private commaEnd(from: number, limit: number): number {
    const comma = /^\s*,/.exec(this.tree.text.slice(from, Math.min(limit, from + 200)))
    return comma === null ? from : from + comma[0].length
  }

  private writeMessage(
    message: MessageNode,
    indent: string,
    around: { before: string; after: string; start: number },
  ): void {
    if (message.fields.length === 0 && !this.hasComment(message.start, message.end)) {
      this.writeLine(`${indent}${around.before}{}${around.after}`, around.start, message.end)
      return
    }
    this.writeLine(`${indent}${around.before}{`, around.start, message.start + 1)
    this.writeFields(message, `${indent}  `)
    this.writeComments(message.end - 1, `${indent}  `)
    this.writeLine(`${indent}}${around.after}`, this.done, message.end)
  }

  /** Also puts one blank line where the source has at least one. */
  private writeLine(line: string, from: number, to: number): void {
    if (this.lines.length > 0 && from > this.done && this.hasBlank(this.done, from)) this.lines.push('')
    this.lines.push(line)
    this.isClosed = false
    this.done = to
  }

  private hasBlank(from: number, to: number): boolean {
    return /\n[ \t\r]*\n/.test(this.tree.text.slice(from, to))
  }

  /** Every comment that starts before `limit`: at the end of the last line if it stood there, else on its own. */
  private writeComments(limit: number, indent: string): void {
    const { text, comments } = this.tree
    for (;;) {
      const comment = comments[this.nextComment]
      if (comment === undefined || comment.start >= limit) return
      this.nextComment += 1
      const written = text.slice(comment.start, comment.end).trimEnd()
      const between = text.slice(Math.min(this.done, comment.start), comment.start)
      const isTrailing = !this.isClosed && !between.includes('\n')
      if (!isTrailing) {
        this.writeLine(indent + written, comment.start, comment.end)
        this.isClosed = true
        continue
      }
      this.lines[this.lines.length - 1] += ` ${written}`
      this.isClosed = true
      this.done = comment.end
    }
  }

  private hasComment(from: number, to: number): boolean {
    for (let index = this.nextComment; ; index += 1) {
      const comment = this.tree.comments[index]
      if (comment === undefined || comment.start >= to) return false
      if (comment.start >= from) return true
    }
  }

  /** The field on one line, when the author wrote it so or it is a plain value. */
  private tryFlat(field: FieldNode): string | undefined {
    const isPlain = field.values.every((value) => value.kind === 'scalar')
    const hasComment = this.hasComment(field.start, field.end)
    const isList = field.list !== undefined
    if (isPlain && (!isList || !hasComment)) return this.renderField(field)
    return !hasComment && this.isOneLine(field.start, field.end) ? this.renderField(field) : undefined
  }

  private isFlat(value: ValueNode): boolean {
    return (
      value.kind === 'scalar' ||
      (!this.hasComment(value.start, value.end) &&
        this.isOneLine(value.start, value.end) &&
        value.end - value.start < WIDEST)
    )
  }

  private isOneLine(from: number, to: number): boolean {
    return !/[\r\n]/.test(this.tree.text.slice(from, to))
  }

  private renderField(field: FieldNode): string {
    const items = field.values.map((value) => this.renderValue(value))
    const isMessage = field.field?.type === 'message' || field.field?.label === 'map'
    const glue = isMessage ? ' ' : ': '
    if (field.list === undefined) return `${field.name}${glue}${items[0] ?? ''}`
    return `${field.name}${glue}[${items.length === 0 ? '' : ` ${items.join(', ')} `}]`
  }

  private renderValue(value: ValueNode): string {
    if (value.kind === 'scalar') return this.renderScalar(value)
    if (value.fields.length === 0) return '{}'
    return `{ ${value.fields.map((field) => this.renderField(field)).join(' ')} }`
  }

  /** As written, without blanks and comments between its parts. */
  private renderScalar(value: ScalarNode): string {
    const lexer = new Lexer(this.tree.text.slice(value.start, value.end), 0, () => undefined)
    const parts: string[] = []
    for (let token = lexer.next(); token.kind !== 'end'; token = lexer.next()) {
      parts.push(lexer.text.slice(token.start, token.end))
    }
    return parts[0] === '-' ? parts.join('') : parts.join(' ')
  }
}
