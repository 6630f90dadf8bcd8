import type { Field, Message } from './descriptor.ts'
import { createMessage, messageOf, ROOT } from './descriptor.ts'
import type { JsonValue } from './json-scan.ts'
import { JsonSyntaxError, scanJson } from './json-scan.ts'
import { BAD_VALUE, readJsonScalar } from './json-scalar.ts'
import { nearest } from './pbtxt/spelling.ts'
import { keyStep } from './pbtxt/tree.ts'
import type { Problem } from './problem.ts'
import type { ModelConfig } from './schema.ts'

type Target = Record<string, unknown>

/**
 * Reads a configuration given as JSON (the `config` parameter of a load), by the rules of protobuf's JSON: unknown
 * fields are refused, camelCase is accepted, 64-bit integers may be strings. Never throws on a bad text.
 */
export function parseConfigJson(text: string): { config: ModelConfig; problems: Problem[] } {
  const reader = new Reader(text)
  const target = createMessage(ROOT)
  try {
    const value = scanJson(text)
    reader.readMessage({ value, offset: 0, path: '' }, messageOf(ROOT), target)
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    reader.report(showLine(error.message, text, error.offset), { offset: error.offset, path: '' })
  }
  return { config: target as unknown as ModelConfig, problems: reader.problems }
}

/** As the original: the message, the line, and a mark below the place. */
function showLine(message: string, text: string, offset: number): string {
  const from = text.lastIndexOf('\n', Math.max(0, offset - 1)) + 1
  const end = text.indexOf('\n', offset)
  const start = Math.max(offset === 0 ? 0 : from, offset - 20)
  const line = text.slice(start, Math.min(end < 0 ? text.length : end, offset + 20))
  return `${message}\n${line}\n${' '.repeat(offset - start)}^`
}

interface Place {
  readonly value: JsonValue
  readonly offset: number
  readonly path: string
}

class Reader {
  readonly problems: Problem[] = []
  private readonly text: string
  constructor(text: string) {
    this.text = text
  }

  report(original: string, at: { readonly offset: number; readonly path: string }, hint?: string): void {
    const before = this.text.slice(0, at.offset)
    const lineStart = before.lastIndexOf('\n') + 1
    this.problems.push({
      severity: 'error',
      message: hint === undefined ? original : `${original} (${hint})`,
      original,
      code: 'INVALID_ARG',
      line: before.split('\n').length,
      column: at.offset - lineStart + 1,
      offset: at.offset,
      length: 1,
      path: at.path,
    })
  }

  readMessage(place: Place, message: Message, target: Target): void {
    const { value } = place
    if (!isKind(value, 'object')) {
      this.report(`${place.path}: Expected an object.`, place, `${shortName(message)} is written { … }`)
      return
    }
    const seen = new Set<string>()
    for (const member of value.members) {
      const field = findField(message, member.key)
      const at = { value: member.value, offset: member.offset, path: join(place.path, field?.name ?? member.key) }
      if (field === undefined) this.refuseUnknown(at, message, member.key)
      else if (seen.has(field.name)) this.report(`${at.path}: Field is given twice.`, at)
      else this.readField(at, field, { message, target })
      if (field !== undefined) seen.add(field.name)
    }
  }

  private refuseUnknown(at: Place, message: Message, key: string): void {
    const near = nearest(key, message.byName.keys())
    this.report(`${at.path}: Cannot find field.`, at, near === undefined ? undefined : `did you mean ${near}?`)
  }

  private readField(at: Place, field: Field, open: { readonly message: Message; readonly target: Target }): void {
    if (at.value === null) return
    const { target } = open
    const other = open.message.fields.find(
      (one) => one.oneof !== '' && one.oneof === field.oneof && one !== field && target[one.name] !== undefined,
    )
    if (other !== undefined) {
      this.report(`${at.path}: oneof field '${field.oneof}' is already set. Cannot set '${field.name}'`, at)
      return
    }
    if (field.label === 'many') this.readList(at, field, target[field.name] as unknown[])
    else if (field.label === 'map') this.readMap(at, field, target[field.name] as Target)
    else this.readOne(at, field, (value) => (target[field.name] = value))
  }

  private readList(at: Place, field: Field, list: unknown[]): void {
    if (!isKind(at.value, 'array')) {
      this.report(`${at.path}: Expected an array.`, at, `${field.name} is a list: [ … ]`)
      return
    }
    for (const [index, item] of at.value.items.entries()) {
      this.readOne({ ...item, path: `${at.path}[${String(index)}]` }, field, (value) => list.push(value))
    }
  }

  private readMap(at: Place, field: Field, map: Target): void {
    const { value } = at
    const example = field.type === 'message' ? '{ … }' : '"value"'
    if (!isKind(value, 'object')) {
      this.report(`${at.path}: Expected an object.`, at, `a map is written {"KEY": ${example}}`)
      return
    }
    if (this.refuseTextForm(at, field)) return
    for (const member of value.members) {
      const inner = {
        value: member.value,
        offset: member.offset,
        path: join(parent(at.path), keyStep(field.name, member.key)),
      }
      this.readOne(inner, field, (one) => (map[member.key] = one))
    }
  }

  /** `{"key": "K", "value": {…}}` is how the text format writes an entry; in JSON the key is the name. */
  private refuseTextForm(at: Place, field: Field): boolean {
    const members = isKind(at.value, 'object') ? at.value.members : []
    const key = members.find((member) => member.key === 'key')?.value
    const value = members.find((member) => member.key === 'value')
    if (field.type !== 'message' || typeof key !== 'string' || value === undefined || members.length !== 2) return false
    const inner = field.typeName === 'inference.ModelParameter' ? '{"string_value": "…"}' : '{ … }'
    const hint = `in JSON a map is written {${JSON.stringify(key)}: ${inner}}, without "key" and "value"`
    this.report(`${at.path}: invalid JSON in ${at.path}: Expected an object.`, at, hint)
    return true
  }

  private readOne(at: Place, field: Field, put: (value: unknown) => void): void {
    if (field.type === 'message') {
      const made = createMessage(field.typeName)
      put(made)
      this.readMessage(at, messageOf(field.typeName), made)
      return
    }
    const read = readJsonScalar(at.value, field)
    if (read.value === BAD_VALUE) this.report(`${at.path}: ${read.error}`, at, read.hint)
    else put(read.value)
  }
}

function isKind<Kind extends 'object' | 'array'>(
  value: JsonValue,
  kind: Kind,
): value is Extract<JsonValue, { kind: Kind }> {
  return typeof value === 'object' && value !== null && value.kind === kind
}

function findField(message: Message, key: string): Field | undefined {
  return message.byName.get(key) ?? message.fields.find((field) => camelCase(field.name) === key)
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z0-9])/g, (_, char: string) => char.toUpperCase())
}

function shortName(message: Message): string {
  return message.name.replace('inference.', '')
}

function join(prefix: string, name: string): string {
  return prefix === '' ? name : `${prefix}.${name}`
}

function parent(path: string): string {
  const cut = path.lastIndexOf('.')
  return cut < 0 ? '' : path.slice(0, cut)
}
