import { FLAG, H2_ERROR, HpackDecoder } from '@conch/protocol'
import type { HeaderList } from '@conch/protocol'
import { ConnectionError } from './frame-reader.ts'
import type { FrameHeader } from './frame-reader.ts'
import { stripPadding } from './headers.ts'
import { LIMITS } from './limits.ts'

export interface HeaderBlock {
  /** Of the HEADERS frame. */
  readonly header: FrameHeader
  /** Undefined for more than LIMITS.headerList. */
  readonly list: HeaderList | undefined
}

/** Header blocks of one connection: HEADERS and the CONTINUATION frames behind it, decoded when the last has come. */
export class HeaderBlocks {
  readonly #decoder = new HpackDecoder(LIMITS.headerList)
  #open: { header: FrameHeader; bytes: Uint8Array } | undefined = undefined

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
    if (size > LIMITS.headerBlock)
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
