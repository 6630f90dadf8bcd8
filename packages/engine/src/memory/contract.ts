import type { InferRequest, InferResponse } from '@conch/protocol'

export type RegionKind = 'system' | 'cuda'

export interface RegionStatus {
  readonly name: string
  /** Of the system's object; '' for CUDA. */
  readonly key: string
  readonly offset: number
  readonly byteSize: number
  readonly deviceId: number
}

/** Memory that clients registered, for tensors that never travel. Every method throws ConchError in the original's words. */
export interface ClientMemory {
  registerSystem(name: string, object: { key: string; offset: number; byteSize: number }): void
  /** `handle`: a cudaIpcMemHandle_t, 64 bytes. */
  registerCuda(name: string, memory: { handle: Uint8Array; deviceId: number; byteSize: number }): void
  /** '' = all of the kind. One that requests still use ends when they do. */
  unregister(kind: RegionKind, name: string): void
  /** '' = all of the kind. */
  status(kind: RegionKind, name: string): readonly RegionStatus[]
  /** Puts the elements of inputs that lie in regions under the request. Undefined when it uses no region. */
  lend(request: InferRequest): Lease | undefined
}

/** The regions that one request uses, until its answer is delivered. */
export interface Lease {
  /** Writes the outputs that were asked for in regions; they come back without elements. Throws when one does not fit. */
  deliver(response: InferResponse): InferResponse
  end(): void
}
