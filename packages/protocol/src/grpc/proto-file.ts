import { allMessages, allEnumerations } from '../config/descriptor.ts'
import type { Field as ConfigField } from '../config/descriptor.ts'
import { readTable, type WireField } from './schema.ts'
import { HEALTH_METHODS, INFERENCE_METHODS, SERVICE_MESSAGES, type MethodRow } from './service-tables.ts'

/** A .proto file, for whoever has to be told what the port speaks: reflection, and the texts in docs/proto. */
export interface ProtoFile {
  /** As it is imported. */
  readonly name: string
  readonly package: string
  readonly imports: readonly string[]
  readonly messages: readonly ProtoMessage[]
  readonly enums: readonly ProtoEnum[]
  readonly services: readonly ProtoService[]
}
export interface ProtoMessage {
  readonly name: string
  readonly doc: string
  readonly fields: readonly ProtoField[]
  readonly messages: readonly ProtoMessage[]
  readonly enums: readonly ProtoEnum[]
}
export interface ProtoField {
  readonly name: string
  readonly number: number
  readonly label: 'one' | 'many' | 'map'
  readonly type: WireField['type']
  /** Full name of a message or enumeration; of a map, its value's. */
  readonly typeName: string
  readonly keyType: 'string' | 'uint64'
  /** '' = a member of none. */
  readonly oneof: string
  readonly doc: string
}
export interface ProtoEnum {
  readonly name: string
  readonly values: readonly { readonly name: string; readonly number: number; readonly doc: string }[]
}
export interface ProtoService {
  readonly name: string
  readonly methods: readonly ProtoMethod[]
}
export interface ProtoMethod {
  readonly name: string
  /** Full names. */
  readonly input: string
  readonly output: string
  readonly streaming: boolean
}

type FlatMessage = Omit<ProtoMessage, 'messages' | 'enums'>

/** The files of the port, each after those that it imports. */
export function describeFiles(): readonly ProtoFile[] {
  return [describeConfig(), describeInference(), describeHealth()]
}

const CONFIG = 'model_config.proto'

function describeConfig(): ProtoFile {
  const entries = new Set<string>()
  for (const { fields } of allMessages()) for (const { entry } of fields) entries.add(entry)
  const messages = [...allMessages()].filter(({ name }) => !entries.has(name))
  const flat = messages.map(({ name, doc, fields }) => ({ name: shorten(name), doc, fields: fields.map(fromConfig) }))
  const enums = [...allEnumerations()].map(({ name, values, docs }) => ({
    name: shorten(name),
    values: [...values].map(([value, number]) => ({ name: value, number, doc: docs[value] ?? '' })),
  }))
  return { name: CONFIG, package: 'inference', imports: [], ...nest(flat, enums), services: [] }
}

function fromConfig(field: ConfigField): ProtoField {
  const { name, number, label, type, typeName, keyType, oneof, doc } = field
  return { name, number, label, type, typeName, keyType, oneof, doc }
}

const HEALTH_NAMES = new Set(['HealthCheckRequest', 'HealthCheckResponse'])

function describeInference(): ProtoFile {
  const tables = Object.entries(SERVICE_MESSAGES).filter(([name]) => !HEALTH_NAMES.has(name))
  const flat = tables.map(([name, table]) => ({ name, doc: '', fields: fromTable(table) }))
  const service = { name: 'GRPCInferenceService', methods: INFERENCE_METHODS.map((row) => toMethod('inference', row)) }
  return { name: 'grpc_service.proto', package: 'inference', imports: [CONFIG], ...nest(flat, []), services: [service] }
}

function fromTable(table: string): ProtoField[] {
  const oneof = /^oneof (\w+):/.exec(table)?.[1] ?? ''
  return readTable(table).map(({ name, number, label, type, typeName, keyType }) => ({
    name,
    number,
    label,
    type,
    typeName: typeName === '' ? '' : `inference.${typeName}`,
    keyType,
    oneof,
    doc: '',
  }))
}

const HEALTH = 'grpc.health.v1'

function describeHealth(): ProtoFile {
  const statuses = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN']
  const status = { name: 'ServingStatus', values: statuses.map((name, number) => ({ name, number, doc: '' })) }
  const base = { number: 1, label: 'one', keyType: 'string', oneof: '', doc: '' } as const
  const none = { doc: '', messages: [], enums: [] }
  const typeName = `${HEALTH}.HealthCheckResponse.ServingStatus`
  return {
    name: 'grpc/health/v1/health.proto',
    package: HEALTH,
    imports: [],
    messages: [
      { ...none, name: 'HealthCheckRequest', fields: [{ ...base, name: 'service', type: 'string', typeName: '' }] },
      {
        ...none,
        name: 'HealthCheckResponse',
        fields: [{ ...base, name: 'status', type: 'enum', typeName }],
        enums: [status],
      },
    ],
    enums: [],
    services: [{ name: 'Health', methods: HEALTH_METHODS.map((row) => toMethod(HEALTH, row)) }],
  }
}

function toMethod(proto: string, [name, messages, streaming]: MethodRow): ProtoMethod {
  const [input, output] = [`${proto}.${messages.request}`, `${proto}.${messages.response}`]
  return { name, input, output, streaming }
}

const shorten = (name: string) => name.replace(/^inference\./, '')

/** Messages named `Outer.Inner` go into their outer ones. */
function nest(
  flat: readonly FlatMessage[],
  enums: readonly ProtoEnum[],
  outer = '',
): Pick<ProtoFile, 'messages' | 'enums'> {
  const inside = (name: string) => name.startsWith(outer) && !name.slice(outer.length).includes('.')
  const rename = <T extends { readonly name: string }>(one: T): T => ({ ...one, name: one.name.slice(outer.length) })
  return {
    messages: flat
      .filter(({ name }) => inside(name))
      .map((message) => ({ ...rename(message), ...nest(flat, enums, `${message.name}.`) })),
    enums: enums.filter(({ name }) => inside(name)).map(rename),
  }
}
