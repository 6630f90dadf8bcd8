import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { readEvents, type Fields } from './generate.ts'

async function collect(
  text: string,
  cuts: readonly number[] = [],
  type = 'text/event-stream; charset=utf-8',
  status = 200,
) {
  const bytes = Buffer.from(text)
  const edges = [0, ...cuts, bytes.length].sort((a, b) => a - b)
  const pieces = edges.slice(1).map((edge, index) => bytes.subarray(edges[index], edge))
  const body = (async function* () {
    yield* pieces
  })()
  const events: Fields[] = []
  for await (const event of readEvents({ status, header: () => type, body })) events.push(event)
  return events
}

it('reads events however they are cut', async () => {
  const text = 'data: {"a":"ä"}\n\ndata:{"b":[1,9007199254740993]}\r\n\n: comment\n\ndata: {"c":null}\n\n'
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(Buffer.byteLength(text))), async (cuts) => {
      expect(await collect(text, cuts)).toEqual([{ a: 'ä' }, { b: [1, 9007199254740993n] }, { c: null }])
    }),
  )
})

it('throws what an event or another kind of answer tells', async () => {
  await expect(collect('data: {"x":1}\n\ndata: {"error":"model failed"}\n\n')).rejects.toMatchObject({
    name: 'ClientError',
    message: 'model failed',
  })
  await expect(collect('{"error":"no such model"}', [], 'application/json', 404)).rejects.toMatchObject({
    code: 'NOT_FOUND',
    message: 'no such model',
  })
  await expect(collect('data: nonsense\n\n')).rejects.toMatchObject({ code: 'INTERNAL' })
  await expect(collect('<html>', [], 'text/html', 502)).rejects.toMatchObject({
    code: 'UNKNOWN',
    message: '<html>',
    status: 502,
  })
})
