import { ClientError } from '../error.ts'
import type { HttpHead } from './transport.ts'

/** What comes of one answer. Pieces are views that may be kept. */
export interface ResponseSink {
  head(head: HttpHead): void
  body(piece: Uint8Array): void
  /** `reusable`: the connection may carry another exchange. */
  end(reusable: boolean): void
}

const MAX_HEAD = 65_536
const MAX_CHUNK_LINE = 1_024
const CR = 0x0d
const LF = 0x0a

const NOTHING = Buffer.alloc(0)

type State = 'head' | 'length' | 'chunk-size' | 'chunk' | 'chunk-end' | 'trailers' | 'until-close'

class Head implements HttpHead {
  readonly status: number
  readonly #fields: ReadonlyMap<string, string>
  constructor(status: number, fields: ReadonlyMap<string, string>) {
    this.status = status
    this.#fields = fields
  }
  header(name: string): string | undefined {
    return this.#fields.get(name)
  }
}

/** Reads the answers of one HTTP/1.1 connection, one after the other (RFC 9112). What is malformed ends the connection. */
export class ResponseReader {
  #sink: ResponseSink | undefined = undefined
  #state: State = 'head'
  /** The beginning of a head or of a line that has not come whole. */
  #rest: Buffer = NOTHING
  #left = 0
  #keepAlive = true
  #known: { text: string; head: Head } | undefined = undefined

  /** The next answer goes to `sink`. */
  expect(sink: ResponseSink): void {
    this.#sink = sink
    this.#state = 'head'
  }

  /** Throws ClientError. */
  push(chunk: Buffer): void {
    let bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    this.#rest = NOTHING
    while (bytes.length > 0) {
      const used = this.#read(bytes)
      if (used < 0) {
        this.#rest = bytes
        return
      }
      bytes = bytes.subarray(used)
    }
  }

  /** The server closed; true when that ends the answer well. */
  close(): boolean {
    if (this.#state !== 'until-close') return false
    this.#finish(false)
    return true
  }

  /** Returns the bytes used, -1 when more must come first. */
  #read(bytes: Buffer): number {
    if (this.#sink === undefined) broken('bytes that nobody asked for')
    switch (this.#state) {
      case 'head':
        return this.#readHead(bytes)
      case 'chunk-size':
        return this.#readLine(bytes, (line) => this.#beginChunk(line))
      case 'chunk-end':
        return this.#readLine(bytes, (line) => {
          if (line !== '') broken('a chunk longer than announced')
          this.#state = 'chunk-size'
        })
      case 'trailers':
        return this.#readLine(bytes, (line) => {
          if (line === '') this.#finish(this.#keepAlive)
        })
      case 'until-close':
        this.#sink.body(bytes)
        return bytes.length
      case 'length':
      case 'chunk':
        return this.#readBody(bytes)
    }
  }

  #readBody(bytes: Buffer): number {
    const piece = bytes.length > this.#left ? bytes.subarray(0, this.#left) : bytes
    this.#left -= piece.length
    this.#sink?.body(piece)
    if (this.#left > 0) return piece.length
    if (this.#state === 'chunk') this.#state = 'chunk-end'
    else this.#finish(this.#keepAlive)
    return piece.length
  }

  #readLine(bytes: Buffer, take: (line: string) => void): number {
    const end = bytes.indexOf(LF)
    if (end < 0) return bytes.length > MAX_CHUNK_LINE ? broken('a chunk without a size') : -1
    take(bytes.toString('latin1', 0, bytes[end - 1] === CR ? end - 1 : end))
    return end + 1
  }

  #beginChunk(line: string): void {
    const size =
      /^([0-9a-f]{1,12})\s*(?:;.*)?$/i.exec(line)?.[1] ?? broken(`'${line.slice(0, 40)}' as the size of a chunk`)
    this.#left = Number.parseInt(size, 16)
    this.#state = this.#left === 0 ? 'trailers' : 'chunk'
  }

  #readHead(bytes: Buffer): number {
    const end = bytes.indexOf('\r\n\r\n', 0, 'latin1')
    if (end < 0) return bytes.length > MAX_HEAD ? broken(`headers of over ${MAX_HEAD} bytes`) : -1
    const text = bytes.toString('latin1', 0, end)
    const known = this.#known
    const head = known?.text === text ? known.head : parseHead(text)
    if (head !== known?.head) this.#known = { text, head }
    // An interim answer: the real one follows.
    if (head.status < 200) return end + 4
    this.#sink?.head(head)
    this.#begin(head)
    return end + 4
  }

  #begin(head: Head): void {
    const length = head.header('content-length')
    const coding = head.header('transfer-encoding')
    this.#keepAlive = head.header('connection')?.toLowerCase() !== 'close'
    if (coding !== undefined) {
      if (length !== undefined || coding.toLowerCase() !== 'chunked') broken(`the transfer encoding '${coding}'`)
      this.#state = 'chunk-size'
      return
    }
    if (length === undefined && head.status !== 204 && head.status !== 304) {
      this.#state = 'until-close'
      return
    }
    if (length !== undefined && !/^\d{1,15}$/.test(length)) broken(`'${length}' as its length`)
    this.#left = Number(length ?? 0)
    this.#state = 'length'
    if (this.#left === 0) this.#finish(this.#keepAlive)
  }

  #finish(reusable: boolean): void {
    const sink = this.#sink
    this.#sink = undefined
    this.#state = 'head'
    sink?.end(reusable)
  }
}

function broken(what: string): never {
  throw new ClientError('INTERNAL', `the server's answer cannot be read: it has ${what}`)
}

function parseHead(text: string): Head {
  const [first = '', ...lines] = text.split('\r\n')
  const status = STATUS_LINE.exec(first)?.[1] ?? broken(`'${first.slice(0, 40)}' for a status line`)
  const fields = new Map<string, string>()
  for (const line of lines) addField(fields, line)
  // Without keep-alive an answer of HTTP/1.0 is the last one.
  const isLast = first.startsWith('HTTP/1.0') && fields.get('connection')?.toLowerCase() !== 'keep-alive'
  if (isLast) fields.set('connection', 'close')
  return new Head(Number(status), fields)
}

const STATUS_LINE = /^HTTP\/1\.[01] ([1-9]\d\d)(?: |$)/

function addField(fields: Map<string, string>, line: string): void {
  const colon = line.indexOf(':')
  if (colon <= 0) broken('a header without a name')
  const name = line.slice(0, colon).toLowerCase()
  const value = line.slice(colon + 1).trim()
  const before = fields.get(name)
  if (before === undefined) fields.set(name, value)
  else if (name !== 'content-length') fields.set(name, `${before}, ${value}`)
  else if (before !== value) broken('two lengths')
}
