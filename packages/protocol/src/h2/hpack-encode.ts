import { STATIC_NAMES, STATIC_VALUES } from './static-table.ts'

/**
 * A header block that needs no table and leaves none behind: static entries where they fit, plain literals otherwise (RFC 7541 §6.2.2). It may be
 * sent on any connection, so what never changes is encoded once. Letters are written as one byte each.
 */
export function encodeHeaders(list: readonly string[]): Uint8Array {
  const bytes: number[] = []
  for (let i = 0; i < list.length; i += 2) writeField(bytes, list[i] ?? '', list[i + 1] ?? '')
  return Uint8Array.from(bytes)
}

function writeField(bytes: number[], name: string, value: string): void {
  const known = STATIC_NAMES.indexOf(name)
  const whole = STATIC_NAMES.findIndex((one, index) => one === name && STATIC_VALUES[index] === value)
  if (whole > 0) {
    writeInteger(bytes, whole, { bits: 7, flags: 0x80 })
    return
  }
  writeInteger(bytes, Math.max(known, 0), { bits: 4, flags: 0 })
  if (known <= 0) writeText(bytes, name)
  writeText(bytes, value)
}

function writeText(bytes: number[], text: string): void {
  writeInteger(bytes, text.length, { bits: 7, flags: 0 })
  for (let i = 0; i < text.length; i += 1) bytes.push(text.charCodeAt(i) & 0xff)
}

function writeInteger(bytes: number[], value: number, { bits, flags }: { bits: number; flags: number }): void {
  const most = (1 << bits) - 1
  if (value < most) {
    bytes.push(flags | value)
    return
  }
  bytes.push(flags | most)
  let left = value - most
  while (left >= 128) {
    bytes.push((left % 128) | 128)
    left = Math.floor(left / 128)
  }
  bytes.push(left)
}
