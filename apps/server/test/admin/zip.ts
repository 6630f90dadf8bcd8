import { crc32, deflateRawSync } from 'node:zlib'

export interface ZipPart {
  readonly name: string
  readonly data?: Buffer | string
  /** Unix mode with its type bits, as 0o120777 for a link. */
  readonly mode?: number
  /** What the archive claims to unpack to, when that is a lie. */
  readonly claims?: number
  readonly encrypted?: boolean
}

/** An archive with exactly these entries, however dishonest. */
export function makeZip(parts: readonly ZipPart[]): Buffer {
  const bodies: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const { name, data = '', mode = 0o100644, claims, encrypted = false } of parts) {
    const raw = Buffer.from(data)
    const packed = deflateRawSync(raw)
    const text = Buffer.from(name)
    const size = claims ?? raw.byteLength
    const flags = 0x800 | (encrypted ? 1 : 0)
    const local = Buffer.alloc(30)
    local.writeUInt32LE(0x04034b50, 0)
    local.writeUInt16LE(20, 4)
    local.writeUInt16LE(flags, 6)
    local.writeUInt16LE(8, 8)
    local.writeUInt32LE(crc32(raw), 14)
    local.writeUInt32LE(packed.byteLength, 18)
    local.writeUInt32LE(size, 22)
    local.writeUInt16LE(text.byteLength, 26)
    const central = Buffer.alloc(46)
    central.writeUInt32LE(0x02014b50, 0)
    central.writeUInt16LE((3 << 8) | 20, 4)
    central.writeUInt16LE(20, 6)
    central.writeUInt16LE(flags, 8)
    central.writeUInt16LE(8, 10)
    central.writeUInt32LE(crc32(raw), 16)
    central.writeUInt32LE(packed.byteLength, 20)
    central.writeUInt32LE(size, 24)
    central.writeUInt16LE(text.byteLength, 28)
    central.writeUInt32LE((mode << 16) >>> 0, 38)
    central.writeUInt32LE(offset, 42)
    bodies.push(local, text, packed)
    directory.push(central, text)
    offset += 30 + text.byteLength + packed.byteLength
  }
  const index = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(parts.length, 8)
  end.writeUInt16LE(parts.length, 10)
  end.writeUInt32LE(index.byteLength, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...bodies, index, end])
}
