import { ConnectionError, type FrameHeader } from './frame-reader.ts'
import { FLAG, FRAME, H2_ERROR } from './frames.ts'
import { HpackDecoder, type HeaderList } from './hpack-decoder.ts'

export interface HeaderLimits {
  /** Letters of all fields of a list and 32 bytes a field. */
  readonly headerList: number
  /** Bytes of a block over all of its frames. */
  readonly headerBlock: number
}

export interface HeaderBlock {
  /** Of the HEADERS frame. */
  readonly header: FrameHeader
  /** Undefined for more than the limit. */
  readonly list: HeaderList | undefined
}

/** Header blocks of one connection: HEADERS and the CONTINUATION frames behind it, decoded when the last has come. */
export class HeaderBlocks {
  readonly #limits: HeaderLimits
  readonly #decoder: HpackDecoder
  #open: { header: FrameHeader; bytes: Uint8Array } | undefined = undefined

  constructor(limits: HeaderLimits) {
    this.#limits = limits
    this.#decoder = new HpackDecoder(limits.headerList)
  }

  /** A block goes on: nothing else may come before its end. */
  get isOpen(): boolean {
    return this.#open !== undefined
  }

  begin(header: FrameHeader, payload: Uint8Array): HeaderBlock | undefined {
    if (header.stream === 0 || header.stream % 2 === 0) refuse('HEADERS on a stream that is no client’s')
    const block = stripPadding(header, payload)
    if ((header.flags & FLAG.END_HEADERS) !== 0) return { header, list: this.#decoder.decode(block) }
    this.#open = { header, bytes: block.slice() }
    return undefined
  }

  goOn(header: FrameHeader, payload: Uint8Array): HeaderBlock | undefined {
    const open = this.#open
    if (open === undefined || open.header.stream !== header.stream) refuse('CONTINUATION without HEADERS')
    const size = open.bytes.length + payload.length
    if (size > this.#limits.headerBlock)
      throw new ConnectionError(H2_ERROR.ENHANCE_YOUR_CALM, `headers of over ${size} bytes`)
    const bytes = new Uint8Array(size)
    bytes.set(open.bytes)
    bytes.set(payload, open.bytes.length)
    const ends = (header.flags & FLAG.END_HEADERS) !== 0
    this.#open = ends ? undefined : { header: open.header, bytes }
    return ends ? { header: open.header, list: this.#decoder.decode(bytes) } : undefined
  }
}

function refuse(what: string): never {
  throw new ConnectionError(H2_ERROR.PROTOCOL_ERROR, what)
}

/** A payload without padding and without priority. Throws for padding that is longer than its frame. */
export function stripPadding({ type, flags, stream }: FrameHeader, payload: Uint8Array): Uint8Array {
  if (stream === 0) throw new ConnectionError(H2_ERROR.PROTOCOL_ERROR, 'a call on stream 0')
  const padded = (flags & FLAG.PADDED) !== 0
  const priority = type === FRAME.HEADERS && (flags & FLAG.PRIORITY) !== 0
  if (!padded && !priority) return payload
  const start = (padded ? 1 : 0) + (priority ? 5 : 0)
  const end = payload.length - (padded ? (payload[0] ?? 0) : 0)
  if (start > end) throw new ConnectionError(H2_ERROR.PROTOCOL_ERROR, 'padding longer than its frame')
  return payload.subarray(start, end)
}
