import { addressOf } from './library.ts'
import type { Pointer } from './library.ts'

/** Cache lines and the widest vector registers. */
const ALIGNMENT = 64

/** Native-visible memory of ours; its address is valid as long as `bytes` is referenced. */
export interface Block {
  readonly bytes: Uint8Array
  readonly address: Pointer
}

/** Uninitialised, aligned. The library is given the address even of an empty block, so that it is never null. */
export function allocateBlock(size: number): Block {
  const whole = Buffer.allocUnsafeSlow(size + ALIGNMENT)
  const address = addressOf(whole)
  const offset = Number(BigInt.asUintN(6, -address))
  return { bytes: whole.subarray(offset, offset + size), address: address + BigInt(offset) }
}
