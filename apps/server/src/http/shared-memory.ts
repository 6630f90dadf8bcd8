import { ConchError } from '@conch/protocol'
import type { InferRequest } from '@conch/protocol'
import type { Exchange } from './exchange.ts'
import { send } from './reply.ts'

const NONE = Buffer.from('[]')

/** No region can be registered in this release, so the list of all is empty and a named one is unknown. */
export function answerSystemStatus(exchange: Exchange): void {
  answerStatus(exchange, 'system')
}

export function answerCudaStatus(exchange: Exchange): void {
  answerStatus(exchange, 'cuda')
}

function answerStatus(exchange: Exchange, kind: 'system' | 'cuda'): void {
  if (exchange.scope !== '')
    throw new ConchError('NOT_FOUND', `Unable to find ${kind} shared memory region: '${exchange.scope}'`)
  send(exchange, 200, { type: 'application/json', parts: [NONE] })
}

/** Throws for tensors in a region: there is none (reference: http §6.2). */
export function checkRegions({ inputs, outputs }: InferRequest): void {
  for (const { region } of inputs) if (region !== undefined) failUnknown(region.name)
  for (const { region } of outputs) if (region !== undefined) failUnknown(region.name)
}

function failUnknown(region: string): never {
  throw new ConchError('NOT_FOUND', `Unable to find shared memory region: '${region}'`)
}

/** Register and unregister, both kinds (reference: http §7). */
export function refuseSharedMemory(exchange: Exchange): void {
  throw new ConchError(
    'UNSUPPORTED',
    exchange.face.allowClientShm
      ? 'Client shared memory is not supported by this release.'
      : "Client shared memory is disabled. Start the server with '--allow-client-shm=true' to enable.",
  )
}
