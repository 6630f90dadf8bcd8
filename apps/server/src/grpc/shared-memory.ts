import type { RegionStatus } from '@conch/engine'
import { checkClientMemory } from '../client-memory.ts'
import type { Face } from './face.ts'
import type { Fields } from './fields.ts'

export function systemStatus({ engine }: Face, request: Fields): Fields {
  const shown = engine.memory.status('system', nameOf(request)).map(({ name, key, offset, byteSize }: RegionStatus) => {
    return [name, { name, key, offset, byte_size: byteSize }] as const
  })
  return { regions: Object.fromEntries(shown) as Fields }
}

export function cudaStatus({ engine }: Face, request: Fields): Fields {
  const shown = engine.memory.status('cuda', nameOf(request)).map(({ name, deviceId, byteSize }: RegionStatus) => {
    return [name, { name, device_id: deviceId, byte_size: byteSize }] as const
  })
  return { regions: Object.fromEntries(shown) as Fields }
}

export function registerSystem(face: Face, request: Fields): Fields {
  checkClientMemory(face)
  const [offset, byteSize] = [Number(request['offset']), Number(request['byte_size'])]
  face.engine.memory.registerSystem(nameOf(request), { key: request['key'] as string, offset, byteSize })
  return {}
}

export function registerCuda(face: Face, request: Fields): Fields {
  checkClientMemory(face)
  face.engine.memory.registerCuda(nameOf(request), {
    handle: request['raw_handle'] as Uint8Array,
    deviceId: request['device_id'] as number,
    byteSize: Number(request['byte_size']),
  })
  return {}
}

export function unregisterSystem(face: Face, request: Fields): Fields {
  checkClientMemory(face)
  face.engine.memory.unregister('system', nameOf(request))
  return {}
}

export function unregisterCuda(face: Face, request: Fields): Fields {
  checkClientMemory(face)
  face.engine.memory.unregister('cuda', nameOf(request))
  return {}
}

function nameOf(request: Fields): string {
  return request['name'] as string
}
