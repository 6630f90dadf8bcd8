import { writeJson, type WritableJson } from '@conch/protocol'
import type { CudaRegionPlace, LoadOptions, SystemRegionPlace } from '../contract.ts'

export const json = (value: WritableJson): Uint8Array => writeJson(value)

export function describeLoad({ config, files = {} }: LoadOptions): WritableJson {
  const parameters: Record<string, string> = {}
  if (config !== undefined) parameters['config'] = config
  for (const [path, bytes] of Object.entries(files)) parameters[`file:${path}`] = toBase64(bytes)
  return { parameters }
}

export function describeSystemRegion({ key, byteSize, offset = 0 }: SystemRegionPlace): WritableJson {
  return { key, offset, byte_size: byteSize }
}

export function describeCudaRegion({ rawHandle, deviceId, byteSize }: CudaRegionPlace): WritableJson {
  return { raw_handle: { b64: toBase64(rawHandle) }, device_id: deviceId, byte_size: byteSize }
}

/** Bytes that become letters at a time: a call has a limited number of arguments. Divisible by 3, or padding would come in between. */
const PIECE = 24_576

function toBase64(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += PIECE) {
    text += btoa(String.fromCharCode(...bytes.subarray(at, at + PIECE)))
  }
  return text
}
