import { ConchError } from '@conch/protocol'
import type { InferRequest } from '@conch/protocol'
import type { Face } from './face.ts'
import type { Fields } from './fields.ts'

/** No region can be registered in this release, so the list of all is empty and a named one is unknown. */
export function systemStatus(_: Face, request: Fields): Fields {
  return showNone('system', request)
}

export function cudaStatus(_: Face, request: Fields): Fields {
  return showNone('cuda', request)
}

function showNone(kind: 'system' | 'cuda', { name }: Fields): Fields {
  if (name !== '') throw new ConchError('NOT_FOUND', `Unable to find ${kind} shared memory region: '${String(name)}'`)
  return { regions: {} }
}

export function refuseRegister({ allowClientShm }: Face): never {
  throw new ConchError(
    'UNSUPPORTED',
    allowClientShm
      ? 'Client shared memory is not supported by this release.'
      : "Client shared memory is disabled. Start the server with '--allow-client-shm=true' to enable.",
  )
}

export function refuseUnregister(face: Face): never {
  return refuseRegister(face)
}

/** Throws for tensors in a region: there is none. */
export function checkRegions({ inputs, outputs }: InferRequest): void {
  for (const { region } of [...inputs, ...outputs]) {
    if (region !== undefined) throw new ConchError('NOT_FOUND', `Unable to find shared memory region: '${region.name}'`)
  }
}
