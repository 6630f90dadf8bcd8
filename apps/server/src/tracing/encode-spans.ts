import { ProtoWriter } from '@conch/protocol'
import { toWallNs } from './clock.ts'
import type { Span } from './spans.ts'

const SERVER = 2
const ERROR = 2

/** An ExportTraceServiceRequest (opentelemetry-proto 1.x): one resource, one scope. */
export function encodeSpans(spans: readonly Span[], resource: Readonly<Record<string, string>>): Uint8Array {
  const writer = new ProtoWriter()
  inside(writer, 1, () => {
    inside(writer, 1, () => writeAttributes(writer, 1, resource))
    inside(writer, 2, () => {
      inside(writer, 1, () => writeString(writer, 1, 'triton-server'))
      for (const span of spans) inside(writer, 2, () => writeSpan(writer, span))
    })
  })
  return writer.finish()
}

function writeSpan(writer: ProtoWriter, span: Span): void {
  writeBytes(writer, 1, Buffer.from(span.traceId, 'hex'))
  writeBytes(writer, 2, Buffer.from(span.spanId, 'hex'))
  if (span.state !== '') writeString(writer, 3, span.state)
  if (span.parentId !== '') writeBytes(writer, 4, Buffer.from(span.parentId, 'hex'))
  writeString(writer, 5, span.name)
  writeNumber(writer, 6, SERVER)
  writeTime(writer, 7, span.start)
  writeTime(writer, 8, span.end)
  writeAttributes(writer, 9, span.attributes)
  for (const { name, at } of span.events) {
    inside(writer, 11, () => {
      writeTime(writer, 1, at)
      writeString(writer, 2, name)
    })
  }
  if (span.error === '') return
  inside(writer, 15, () => {
    writeString(writer, 2, span.error)
    writeNumber(writer, 3, ERROR)
  })
}

function writeAttributes(
  writer: ProtoWriter,
  number: number,
  attributes: Readonly<Record<string, string | number>>,
): void {
  for (const [key, value] of Object.entries(attributes)) {
    inside(writer, number, () => {
      writeString(writer, 1, key)
      inside(writer, 2, () => {
        if (typeof value === 'string') writeString(writer, 1, value)
        else writeNumber(writer, 3, value)
      })
    })
  }
}

const [VARINT, FIXED64, LENGTH] = [0, 1, 2]

function inside(writer: ProtoWriter, number: number, write: () => void): void {
  const start = writer.begin(number)
  write()
  writer.end(start)
}

function writeString(writer: ProtoWriter, number: number, text: string): void {
  writer.tag(number, LENGTH)
  writer.string(text)
}

function writeBytes(writer: ProtoWriter, number: number, bytes: Uint8Array): void {
  writer.tag(number, LENGTH)
  writer.bytes(bytes)
}

function writeNumber(writer: ProtoWriter, number: number, value: number): void {
  writer.tag(number, VARINT)
  writer.int64(value)
}

function writeTime(writer: ProtoWriter, number: number, stamp: number): void {
  writer.tag(number, FIXED64)
  writer.fixed64(toWallNs(stamp))
}
