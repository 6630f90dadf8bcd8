import fc from 'fast-check'
import { expect, it } from 'vitest'
import { encodeInferResponse } from './encode-response.ts'
import { createRequest } from './parse-request.ts'
import { ResponseHeads } from './response-heads.ts'

const NONE = {}
const SOME = { a: 1n }

const anyCase = fc.record({
  model: fc.constantFrom('m', 'n'),
  version: fc.constantFrom('1', '2'),
  id: fc.constantFrom('', '', 'x'),
  parameters: fc.constantFrom(NONE, NONE, SOME),
  outputs: fc.array(
    fc.record({
      name: fc.constantFrom('A', 'B'),
      shape: fc.constantFrom<number[]>([2], [1, 2], [2, 1], [0]),
      first: fc.nat(255),
    }),
    { maxLength: 2 },
  ),
  asked: fc.constantFrom(undefined, true, false),
  binaryOutputs: fc.boolean(),
})

it('answers as the encoder without a memory does', () => {
  fc.assert(
    fc.property(fc.array(anyCase, { maxLength: 12 }), (cases) => {
      const heads = new ResponseHeads()
      for (const { outputs, asked, binaryOutputs, ...rest } of [...cases, ...cases]) {
        const request = createRequest(rest)
        request.binaryOutputs = binaryOutputs
        if (asked !== undefined) {
          request.outputs = [{ name: 'A', binary: asked, classification: 0, region: undefined }]
        }
        const response = {
          ...rest,
          outputs: outputs.map(({ name, shape, first }) => ({
            name,
            datatype: 'UINT8' as const,
            shape,
            data: Uint8Array.of(first, 1).subarray(0, shape.includes(0) ? 0 : 2),
          })),
        }
        const { json, parts, binary } = heads.encode(response, request)
        const expected = encodeInferResponse(response, request)
        expect(new TextDecoder().decode(json)).toBe(new TextDecoder().decode(expected.json))
        expect({ parts, binary }).toEqual({ parts: expected.parts, binary: expected.binary })
      }
    }),
  )
})

it('gives each response its own elements', () => {
  const heads = new ResponseHeads()
  const request = { ...createRequest({ model: 'm', version: '' }), binaryOutputs: true }
  const texts = [1, 2].map((element) => {
    const outputs = [{ name: 'A', datatype: 'UINT8' as const, shape: [1], data: Uint8Array.of(element) }]
    const encoded = heads.encode({ model: 'm', version: '1', id: '', parameters: NONE, outputs }, request)
    expect(encoded.parts).toEqual([Uint8Array.of(element)])
    return encoded.json
  })
  expect(texts[0]).toEqual(texts[1])
})
