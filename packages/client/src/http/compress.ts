import type { Compression } from '../call-options.ts'
import { joinParts } from './transport.ts'

/** The whole body compressed; `deflate` is zlib's format, as the protocol has it. */
export async function compressBody(
  body: readonly Uint8Array[],
  compression: Compression,
): Promise<readonly Uint8Array[]> {
  const { readable, writable } = new CompressionStream(compression)
  const writer = writable.getWriter()
  const written = (async () => {
    for (const part of body) await writer.write(part as Uint8Array<ArrayBuffer>)
    await writer.close()
  })()
  const parts: Uint8Array[] = []
  const reader = (readable as ReadableStream<Uint8Array>).getReader()
  for (let part = await reader.read(); !part.done; part = await reader.read()) parts.push(part.value)
  await written
  return [joinParts(parts)]
}
