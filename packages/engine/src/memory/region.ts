import type { RegionKind } from './contract.ts'

/** Registered memory, mapped into this process or copied from a device. */
export interface Region {
  readonly kind: RegionKind
  readonly name: string
  readonly key: string
  readonly offset: number
  readonly byteSize: number
  readonly deviceId: number
  /** Elements at `offset`: a view where the memory is ours to look at, else a copy. Throws when the memory has become smaller. */
  read(offset: number, size: number): Uint8Array
  write(offset: number, bytes: Uint8Array): void
  /** Nobody will read or write any more. */
  close(): void
}
