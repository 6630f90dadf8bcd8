import { ConchError } from '@conch/protocol'
import type { JsonValue } from '@conch/protocol'
import type { RegionKind, RegionStatus } from '@conch/engine'
import { checkClientMemory } from '../client-memory.ts'
import type { Exchange } from './exchange.ts'
import type { JsonObject } from './read-json.ts'
import { isObject, requireJsonObject, wrongKind } from './read-json.ts'
import { sendEmpty, sendJson } from './reply.ts'

/** Bytes of a cudaIpcMemHandle_t. */
const HANDLE = 64

export function answerSystemStatus(exchange: Exchange): void {
  sendJson(exchange, listStatus(exchange, 'system').map(showSystem))
}

export function answerCudaStatus(exchange: Exchange): void {
  sendJson(exchange, listStatus(exchange, 'cuda').map(showCuda))
}

function listStatus({ face, scope }: Exchange, kind: RegionKind): readonly RegionStatus[] {
  return face.engine.memory.status(kind, scope)
}

function showSystem({ name, key, offset, byteSize }: RegionStatus) {
  return { name, key, offset, byte_size: byteSize }
}

function showCuda({ name, deviceId, byteSize }: RegionStatus) {
  return { name, device_id: deviceId, byte_size: byteSize }
}

/** `POST /v2/systemsharedmemory/region/{r}/register` (reference: http §7.1). */
export async function answerSystemRegister(exchange: Exchange): Promise<void> {
  checkClientMemory(exchange.face)
  const name = requireName(exchange, 'system')
  const body = await requireJsonObject(exchange)
  const key = requireMember(body, 'key')
  if (typeof key !== 'string') throw wrongKind('string')
  const offset = body['offset'] === undefined ? 0 : readCount(body['offset'])
  exchange.face.engine.memory.registerSystem(name, {
    key,
    offset,
    byteSize: readCount(requireMember(body, 'byte_size')),
  })
  sendEmpty(exchange, 200, 'application/json')
}

/** `POST /v2/cudasharedmemory/region/{r}/register` (reference: http §7.4). */
export async function answerCudaRegister(exchange: Exchange): Promise<void> {
  checkClientMemory(exchange.face)
  const name = requireName(exchange, 'cuda')
  const body = await requireJsonObject(exchange)
  const raw = requireMember(body, 'raw_handle')
  const text = isObject(raw) ? raw['b64'] : undefined
  if (typeof text !== 'string') throw wrongKind('string')
  const deviceId = readCount(requireMember(body, 'device_id'))
  const byteSize = readCount(requireMember(body, 'byte_size'))
  const handle = Buffer.from(text, 'base64')
  if (handle.length !== HANDLE) {
    throw new ConchError('INVALID_ARG', "'raw_handle' must be a valid base64 encoded cudaIpcMemHandle_t")
  }
  exchange.face.engine.memory.registerCuda(name, { handle, deviceId, byteSize })
  sendEmpty(exchange, 200, 'application/json')
}

/** One region, or all of a kind (reference: http §7.2); an unknown one is no error. */
export function answerSystemUnregister(exchange: Exchange): void {
  unregister(exchange, 'system')
}

export function answerCudaUnregister(exchange: Exchange): void {
  unregister(exchange, 'cuda')
}

function unregister(exchange: Exchange, kind: RegionKind): void {
  checkClientMemory(exchange.face)
  exchange.face.engine.memory.unregister(kind, exchange.scope)
  sendEmpty(exchange, 200, 'application/json')
}

function requireName({ scope }: Exchange, kind: RegionKind): string {
  if (scope !== '') return scope
  throw new ConchError('INVALID_ARG', `'region name' is necessary to register ${kind} shared memory region`)
}

function requireMember(body: JsonObject, name: string): JsonValue {
  const value = body[name]
  if (value !== undefined) return value
  throw new ConchError('INVALID_ARG', `Shared memory register request has no '${name}' field`)
}

function readCount(value: JsonValue | undefined): number {
  if (typeof value !== 'bigint' || value < 0n || value >= 2n ** 64n) throw wrongKind('unsigned-integer')
  return Number(value)
}
