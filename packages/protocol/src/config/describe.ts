import type { Field, Message } from './descriptor.ts'
import { enumerationOf, messageOf, ROOT, scalarDefault } from './descriptor.ts'

export interface FieldDescription {
  readonly name: string
  /** As in a .proto: `repeated int64 dims = 4`. */
  readonly declaration: string
  /** Full name of the message that has the field. */
  readonly parent: string
  readonly doc: string
  /** What it is when nothing is written; '' for messages. */
  readonly defaultValue: string
  /** Other members of its oneof. */
  readonly excludes: readonly string[]
  /** Values of an enumeration. */
  readonly values: readonly { readonly name: string; readonly number: number; readonly doc: string }[]
}

/** What a field is, by its path: `input[0].dims`, `input.dims` and `parameters["x"].string_value` all work. */
export function describeField(path: string): FieldDescription | undefined {
  let message: Message | undefined = messageOf(ROOT)
  let found: { readonly field: Field; readonly message: Message } | undefined
  for (const step of path.replaceAll(/\["(?:[^"\\]|\\.)*"\]|\[\d+\]/g, '').split('.')) {
    const field: Field | undefined = message?.byName.get(step)
    if (field === undefined || message === undefined) return undefined
    found = { field, message }
    message = field.type === 'message' ? messageOf(field.typeName) : undefined
  }
  return found === undefined ? undefined : describe(found.field, found.message)
}

export function describe(field: Field, message: Message): FieldDescription {
  return {
    name: field.name,
    declaration: declare(field),
    parent: message.name,
    doc: field.doc,
    defaultValue: defaultText(field),
    excludes:
      field.oneof === ''
        ? []
        : message.fields.filter((one) => one.oneof === field.oneof && one !== field).map((one) => one.name),
    values: field.type === 'enum' ? enumValues(field) : [],
  }
}

function defaultText(field: Field): string {
  if (field.label === 'many') return '[]'
  if (field.label === 'map') return '{}'
  if (field.type === 'message' || field.oneof !== '') return ''
  return field.type === 'string' ? '""' : String(scalarDefault(field))
}

function enumValues(field: Field): FieldDescription['values'] {
  const enumeration = enumerationOf(field.typeName)
  return [...enumeration.values].map(([name, number]) => ({ name, number, doc: enumeration.docs[name] ?? '' }))
}

export function declare(field: Field): string {
  const type = field.typeName === '' ? field.type : field.typeName.replace('inference.', '')
  const shown =
    field.label === 'map' ? `map<${field.keyType}, ${type}>` : field.label === 'many' ? `repeated ${type}` : type
  return `${shown} ${field.name} = ${String(field.number)}`
}
