import type { ProtoEnum, ProtoField, ProtoFile, ProtoMessage, ProtoMethod } from './proto-file.ts'

/** The text of a .proto file. */
export function printProto(file: ProtoFile): string {
  const parts = [
    'syntax = "proto3";',
    `package ${file.package};`,
    ...(file.imports.length === 0 ? [] : [file.imports.map((name) => `import "${name}";`).join('\n')]),
    ...file.services.map(({ name, methods }) => `service ${name} {\n${methods.map(printMethod).join('\n')}\n}`),
    ...file.enums.map((one) => printEnum(one, '')),
    ...file.messages.map((message) => printMessage(message, file.package, '')),
  ]
  return `${parts.join('\n\n')}\n`
}

function printMethod({ name, input, output, streaming }: ProtoMethod): string {
  const stream = streaming ? 'stream ' : ''
  const short = (type: string) => type.slice(type.lastIndexOf('.') + 1)
  return `  rpc ${name}(${stream}${short(input)}) returns (${stream}${short(output)});`
}

function printEnum({ name, values }: ProtoEnum, indent: string): string {
  const rows = values.map((value) => `${indent}  ${value.name} = ${value.number};${comment(value.doc)}`)
  return [`${indent}enum ${name} {`, ...rows, `${indent}}`].join('\n')
}

function printMessage(message: ProtoMessage, proto: string, indent: string): string {
  const inner = `${indent}  `
  const lines = [
    ...(message.doc === '' ? [] : [`${indent}// ${message.doc}`]),
    `${indent}message ${message.name} {`,
    ...message.enums.map((one) => printEnum(one, inner)),
    ...message.messages.map((one) => printMessage(one, proto, inner)),
    ...message.fields.filter(({ oneof }) => oneof === '').map((field) => printField(field, proto, inner)),
    ...listOneofs(message).flatMap((oneof) => [
      `${inner}oneof ${oneof} {`,
      ...message.fields.filter((field) => field.oneof === oneof).map((field) => printField(field, proto, `${inner}  `)),
      `${inner}}`,
    ]),
    `${indent}}`,
  ]
  return lines.join('\n')
}

/** In the order of their first members. */
export function listOneofs({ fields }: Pick<ProtoMessage, 'fields'>): readonly string[] {
  return [...new Set(fields.map(({ oneof }) => oneof).filter((oneof) => oneof !== ''))]
}

function printField(field: ProtoField, proto: string, indent: string): string {
  const type = field.typeName === '' ? field.type : field.typeName.replace(`${proto}.`, '')
  const labels = { one: type, many: `repeated ${type}`, map: `map<${field.keyType}, ${type}>` }
  return `${indent}${labels[field.label]} ${field.name} = ${field.number};${comment(field.doc)}`
}

function comment(doc: string): string {
  return doc === '' ? '' : ` // ${doc}`
}
