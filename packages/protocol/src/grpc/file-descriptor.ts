import { encodeMessage } from './encode-message.ts'
import { listOneofs } from './print-proto.ts'
import type { ProtoEnum, ProtoField, ProtoFile, ProtoMessage } from './proto-file.ts'

/** A google.protobuf.FileDescriptorProto: what compilers and reflection clients know a .proto file by. */
export function encodeFileDescriptor(file: ProtoFile): Uint8Array {
  return encodeMessage('google.FileDescriptorProto', {
    name: file.name,
    package: file.package,
    dependency: file.imports,
    message_type: file.messages.map((message) => describeMessage(message, `.${file.package}`)),
    enum_type: file.enums.map(describeEnum),
    service: file.services.map(({ name, methods }) => ({
      name,
      method: methods.map((method) => ({
        name: method.name,
        input_type: `.${method.input}`,
        output_type: `.${method.output}`,
        client_streaming: method.streaming,
        server_streaming: method.streaming,
      })),
    })),
    syntax: 'proto3',
  })
}

function describeMessage(message: ProtoMessage, scope: string): object {
  const name = `${scope}.${message.name}`
  const oneofs = listOneofs(message)
  const maps = message.fields.filter(({ label }) => label === 'map')
  return {
    name: message.name,
    field: message.fields.map((field) => describeField(field, name, oneofs)),
    nested_type: [...message.messages.map((one) => describeMessage(one, name)), ...maps.map(describeEntry)],
    enum_type: message.enums.map(describeEnum),
    oneof_decl: oneofs.map((oneof) => ({ name: oneof })),
  }
}

/** FieldDescriptorProto.Type. */
const TYPES: Readonly<Record<ProtoField['type'], number>> = {
  double: 1,
  float: 2,
  int64: 3,
  uint64: 4,
  int32: 5,
  bool: 8,
  string: 9,
  message: 11,
  bytes: 12,
  uint32: 13,
  enum: 14,
}
const OPTIONAL = 1
const REPEATED = 3

function describeField(field: ProtoField, scope: string, oneofs: readonly string[]): object {
  const { name, number, label, type, typeName, oneof } = field
  const base = { name, number, label: label === 'one' ? OPTIONAL : REPEATED, json_name: toCamel(name) }
  if (label === 'map') return { ...base, type: TYPES.message, type_name: `${scope}.${entryName(name)}` }
  return {
    ...base,
    type: TYPES[type],
    type_name: typeName === '' ? undefined : `.${typeName}`,
    oneof_index: oneof === '' ? undefined : oneofs.indexOf(oneof),
  }
}

/** The message that an entry of a map is. */
function describeEntry(map: ProtoField): object {
  const base = { label: OPTIONAL }
  const typeName = map.typeName === '' ? undefined : `.${map.typeName}`
  return {
    name: entryName(map.name),
    field: [
      { ...base, name: 'key', number: 1, type: TYPES[map.keyType], json_name: 'key' },
      { ...base, name: 'value', number: 2, type: TYPES[map.type], type_name: typeName, json_name: 'value' },
    ],
    options: { map_entry: true },
  }
}

function describeEnum({ name, values }: ProtoEnum): object {
  return { name, value: values.map((value) => ({ name: value.name, number: value.number })) }
}

/** `input_map` → `inputMap`, `InputMapEntry`: as protoc names them. */
function toCamel(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}
function entryName(field: string): string {
  const camel = toCamel(field)
  return `${camel.charAt(0).toUpperCase()}${camel.slice(1)}Entry`
}
