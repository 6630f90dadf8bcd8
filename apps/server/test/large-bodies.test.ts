import { expect, it, vi } from 'vitest'
import type { InferRequest } from '@conch/protocol'
import { openFace, post } from './open-face.ts'

const INFER = '/v2/models/echo/infer'

function makeBody(count: number): { body: Buffer; head: number } {
  const input = { name: 'IN', datatype: 'FP32', shape: [count], parameters: { binary_data_size: count * 4 } }
  const head = Buffer.from(JSON.stringify({ inputs: [input], parameters: { binary_data_output: true } }))
  const elements = Float32Array.from({ length: count }, (_, i) => i)
  return { body: Buffer.concat([head, new Uint8Array(elements.buffer)]), head: head.length }
}

/** An engine that answers with views on the request, as the identity backend does, and keeps what it was asked. */
async function openRecorded() {
  const asked: InferRequest[] = []
  const face = await openFace({
    infer: (request) => {
      asked.push(request)
      const outputs = request.inputs.map((input) => ({ ...input, name: 'OUT' }))
      return Promise.resolve({ model: 'echo', version: '1', id: '', parameters: {}, outputs })
    },
  })
  return { ...face, asked }
}

it('gives the memory of a large body back once its answer was sent', async () => {
  const { open, asked } = await openRecorded()
  const { body, head } = makeBody(1_000_000)
  const client = open()
  for (let turn = 0; turn < 3; turn += 1) {
    client.send(post(INFER, body, `Inference-Header-Content-Length: ${head}`))
    const reply = await client.reply()
    expect(reply?.status).toBe(200)
    expect(reply?.body.subarray(-4_000_000).equals(body.subarray(head))).toBe(true)
    await vi.waitFor(() => expect(asked[turn]?.inputs[0]?.data.length).toBe(0))
  }
})

it('reads the elements of a large body where they are', async () => {
  const offsets: number[] = []
  const { open } = await openFace({
    infer: ({ inputs }) => {
      offsets.push((inputs[0]?.data.byteOffset ?? 1) % 16)
      return Promise.resolve({ model: 'echo', version: '1', id: '', parameters: {}, outputs: [] })
    },
  })
  const { body, head } = makeBody(100_000)
  const client = open().send(post(INFER, body, `Inference-Header-Content-Length: ${head}`))
  expect((await client.reply())?.status).toBe(200)
  expect(offsets).toEqual([0])
})

it('keeps a small body as it came', async () => {
  const { open, asked } = await openRecorded()
  const { body, head } = makeBody(16)
  const client = open().send(post(INFER, body, `Inference-Header-Content-Length: ${head}`))
  await client.reply()
  expect(asked[0]?.inputs[0]?.data.length).toBe(64)
})
