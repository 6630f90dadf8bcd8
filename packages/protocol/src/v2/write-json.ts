import { JsonBuffer } from './json-buffer.ts'
import { formatDouble } from './write-number.ts'

/** What may be written: plain data, with bigint for 64-bit counters. Members that are undefined are left out. */
export type WritableJson =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly WritableJson[]
  | { readonly [member: string]: WritableJson | undefined }

/**
 * Writes metadata, statistics and other small documents compactly. Integers are written as integers, whether number
 * or bigint; non-finite numbers as the original's bare words.
 */
export function writeJson(value: WritableJson): Uint8Array {
  const out = new JsonBuffer(512)
  writeValue(out, value)
  return out.finish()
}

function writeValue(out: JsonBuffer, value: WritableJson): void {
  if (typeof value === 'string') out.text(value)
  else if (typeof value === 'number') out.ascii(Number.isSafeInteger(value) ? String(value) : formatDouble(value))
  else if (typeof value !== 'object' || value === null) out.ascii(String(value))
  else if (Array.isArray(value)) writeArray(out, value)
  else writeObject(out, value as { readonly [member: string]: WritableJson | undefined })
}

function writeArray(out: JsonBuffer, items: readonly WritableJson[]): void {
  out.byte(0x5b)
  let first = true
  for (const item of items) {
    if (!first) out.byte(0x2c)
    first = false
    writeValue(out, item)
  }
  out.byte(0x5d)
}

function writeObject(out: JsonBuffer, object: { readonly [member: string]: WritableJson | undefined }): void {
  out.byte(0x7b)
  let first = true
  for (const key of Object.keys(object)) {
    const value = object[key]
    if (value === undefined) continue
    if (!first) out.byte(0x2c)
    first = false
    out.text(key)
    out.byte(0x3a)
    writeValue(out, value)
  }
  out.byte(0x7d)
}
