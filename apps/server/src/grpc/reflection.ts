import { decodeMessage, describeFiles, encodeFileDescriptor, encodeMessage } from '@conch/protocol'
import type { ProtoFile, ProtoMessage } from '@conch/protocol'
import type { Call, CallHandler } from './call.ts'
import type { Fields } from './fields.ts'
import type { Method } from './service.ts'
import { GrpcError, STATUS } from './status.ts'

const VERSIONS = ['grpc.reflection.v1', 'grpc.reflection.v1alpha']

interface Known {
  /** By name, each encoded. */
  readonly files: ReadonlyMap<string, Uint8Array>
  readonly imports: ReadonlyMap<string, readonly string[]>
  /** Full name of a service, method, message or enumeration → file. */
  readonly symbols: ReadonlyMap<string, string>
  readonly services: readonly string[]
}
let known: Known | undefined

/** The tables of the port as descriptors; made when somebody asks for the first time. */
function know(): Known {
  if (known !== undefined) return known
  const files = describeFiles()
  known = {
    files: new Map(files.map((file) => [file.name, encodeFileDescriptor(file)])),
    imports: new Map(files.map((file) => [file.name, file.imports])),
    symbols: new Map(files.flatMap((file) => listSymbols(file).map((symbol) => [symbol, file.name] as const))),
    services: files.flatMap((file) => file.services.map(({ name }) => `${file.package}.${name}`)),
  }
  return known
}

function listSymbols(file: ProtoFile): string[] {
  const services = file.services.flatMap(({ name, methods }) => [
    `${file.package}.${name}`,
    ...methods.map((method) => `${file.package}.${name}.${method.name}`),
  ])
  return [...services, ...listNames(file, file.package)]
}

function listNames({ messages, enums }: Pick<ProtoMessage, 'messages' | 'enums'>, scope: string): string[] {
  const inner = messages.flatMap((message) => [
    `${scope}.${message.name}`,
    ...listNames(message, `${scope}.${message.name}`),
  ])
  return [...inner, ...enums.map(({ name }) => `${scope}.${name}`)]
}

/** Answers one question. What cannot be answered is an answer as well; the stream goes on. */
function answer(question: Fields): Fields {
  const base = { valid_host: question['host'] ?? '', original_request: question }
  const { services, symbols } = know()
  if (question['list_services'] !== undefined) {
    const names = [...services, ...VERSIONS.map((version) => `${version}.ServerReflection`)]
    return { ...base, list_services_response: { service: names.map((name) => ({ name })) } }
  }
  const file = question['file_by_filename'] ?? symbols.get(String(question['file_containing_symbol']))
  if (typeof file === 'string' && know().files.has(file)) {
    return { ...base, file_descriptor_response: { file_descriptor_proto: collect(file) } }
  }
  const type = question['all_extension_numbers_of_type']
  if (typeof type === 'string' && symbols.has(type)) {
    return { ...base, all_extension_numbers_response: { base_type_name: type, extension_number: [] } }
  }
  return { ...base, error_response: { error_code: STATUS.NOT_FOUND, error_message: 'not found' } }
}

/** A file and those that it imports, so that a client need not ask again. */
function collect(file: string): readonly Uint8Array[] {
  const { files, imports } = know()
  return [file, ...(imports.get(file) ?? [])].flatMap((name) => files.get(name) ?? [])
}

/** ServerReflectionInfo: questions in, answers out, in order. */
class Reflection implements CallHandler {
  readonly #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  message(bytes: Uint8Array): void {
    const call = this.#call
    const message = encodeMessage('ServerReflectionResponse', answer(decodeMessage('ServerReflectionRequest', bytes)))
    call.send({ parts: [message], size: message.length })
    if (call.backlog > MOST_UNREAD) call.fail(new GrpcError(STATUS.RESOURCE_EXHAUSTED, 'the client does not read'))
  }

  end(): void {
    this.#call.finish()
  }

  gone(): void {
    // Nothing runs.
  }

  drained(): void {
    // The backlog is bounded where it grows.
  }
}

/** Bytes of answers that a client has not taken. */
const MOST_UNREAD = 4 * 2 ** 20

/** Superset, `--grpc-reflection`: for clients that learn a port's messages from the port, as grpcurl does. */
export const REFLECTION_METHODS: ReadonlyMap<string, Method> = new Map(
  VERSIONS.map((version) => [
    `/${version}.ServerReflection/ServerReflectionInfo`,
    { group: 'metadata', open: (call: Call) => new Reflection(call) },
  ]),
)
