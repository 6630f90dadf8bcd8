/** Frame types, flags, settings and error codes of HTTP/2 (RFC 9113 §6, §7). */
export const FRAME = {
  DATA: 0,
  HEADERS: 1,
  PRIORITY: 2,
  RST_STREAM: 3,
  SETTINGS: 4,
  PUSH_PROMISE: 5,
  PING: 6,
  GOAWAY: 7,
  WINDOW_UPDATE: 8,
  CONTINUATION: 9,
} as const

export const FLAG = { END_STREAM: 1, ACK: 1, END_HEADERS: 4, PADDED: 8, PRIORITY: 32 } as const

export const SETTING = {
  HEADER_TABLE_SIZE: 1,
  ENABLE_PUSH: 2,
  MAX_CONCURRENT_STREAMS: 3,
  INITIAL_WINDOW_SIZE: 4,
  MAX_FRAME_SIZE: 5,
  MAX_HEADER_LIST_SIZE: 6,
} as const

export const H2_ERROR = {
  NO_ERROR: 0,
  PROTOCOL_ERROR: 1,
  INTERNAL_ERROR: 2,
  FLOW_CONTROL_ERROR: 3,
  SETTINGS_TIMEOUT: 4,
  STREAM_CLOSED: 5,
  FRAME_SIZE_ERROR: 6,
  REFUSED_STREAM: 7,
  CANCEL: 8,
  COMPRESSION_ERROR: 9,
  CONNECT_ERROR: 10,
  ENHANCE_YOUR_CALM: 11,
} as const

/** Bytes of a frame's header. */
export const FRAME_HEADER = 9
/** Windows and frames as they are before any setting came. */
export const DEFAULT_WINDOW = 65_535
export const DEFAULT_FRAME_SIZE = 16_384
export const MAX_WINDOW = 2 ** 31 - 1
/** What a client sends first. */
export const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'

/** A frame's header before its payload of `size` bytes. */
export function writeFrameHeader(
  target: Uint8Array,
  at: number,
  frame: { readonly size: number; readonly type: number; readonly flags: number; readonly stream: number },
): void {
  const { size, type, flags, stream } = frame
  target[at] = size >>> 16
  target[at + 1] = size >>> 8
  target[at + 2] = size
  target[at + 3] = type
  target[at + 4] = flags
  writeUint32(target, at + 5, stream)
}

export function writeUint32(target: Uint8Array, at: number, value: number): void {
  target[at] = value >>> 24
  target[at + 1] = value >>> 16
  target[at + 2] = value >>> 8
  target[at + 3] = value
}

/** Big-endian, unsigned. */
export function readUint32(source: Uint8Array, at: number): number {
  return (
    (source[at] ?? 0) * 2 ** 24 + ((source[at + 1] ?? 0) << 16) + ((source[at + 2] ?? 0) << 8) + (source[at + 3] ?? 0)
  )
}
