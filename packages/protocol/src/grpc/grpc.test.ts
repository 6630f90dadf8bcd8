import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ConchError } from '../status.ts'
import { createRequest } from '../v2/parse-request.ts'
import type { InferRequest } from '../v2/request.ts'
import { decodeMessage } from './decode-message.ts'
import { encodeInferMessage, encodeInferRequest, encodeStreamMessage } from './encode-infer.ts'
import type { EncodedMessage } from './encode-infer.ts'
import { encodeMessage } from './encode-message.ts'
import { readInferMessage } from './infer-message.ts'
import { parseInferMessage } from './parse-infer.ts'
import { parseInferResponse, parseStreamResponse } from './parse-response.ts'

/** Written by protoc's own Python code from the original's .proto files. */
const GOLDEN = {
  request:
    '0a076164645f7375621201311a78c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a9c3a922070a016212020801220e0a0164120921000000000000e03f22100a0169120b10fbffffffffffffffff0122110a0b73657175656e63655f69641202100722140a0e73657175656e63655f73746172741202080122080a017312031a01782a130a06494e505554301204465033321a0301ac022a4e0a06494e505554311205494e5433321a0102221d0a177368617265645f6d656d6f72795f627974655f73697a6512021008221b0a147368617265645f6d656d6f72795f726567696f6e12031a0172321f0a074f55545055543012140a0e636c617373696669636174696f6e120210033ab009000000000000803f0000004000004040000080400000a0400000c0400000e0400000004100001041000020410000304100004041000050410000604100007041000080410000884100009041000098410000a0410000a8410000b0410000b8410000c0410000c8410000d0410000d8410000e0410000e8410000f0410000f84100000042000004420000084200000c4200001042000014420000184200001c4200002042000024420000284200002c4200003042000034420000384200003c4200004042000044420000484200004c4200005042000054420000584200005c4200006042000064420000684200006c4200007042000074420000784200007c42000080420000824200008442000086420000884200008a4200008c4200008e42000090420000924200009442000096420000984200009a4200009c4200009e420000a0420000a2420000a4420000a6420000a8420000aa420000ac420000ae420000b0420000b2420000b4420000b6420000b8420000ba420000bc420000be420000c0420000c2420000c4420000c6420000c8420000ca420000cc420000ce420000d0420000d2420000d4420000d6420000d8420000da420000dc420000de420000e0420000e2420000e4420000e6420000e8420000ea420000ec420000ee420000f0420000f2420000f4420000f6420000f8420000fa420000fc420000fe420000004300000143000002430000034300000443000005430000064300000743000008430000094300000a4300000b4300000c4300000d4300000e4300000f430000104300001143000012430000134300001443000015430000164300001743000018430000194300001a4300001b4300001c4300001d4300001e4300001f430000204300002143000022430000234300002443000025430000264300002743000028430000294300002a4300002b4300002c4300002d4300002e4300002f430000304300003143000032430000334300003443000035430000364300003743000038430000394300003a4300003b4300003c4300003d4300003e4300003f430000404300004143000042430000434300004443000045430000464300004743000048430000494300004a4300004b4300004c4300004d4300004e4300004f430000504300005143000052430000534300005443000055430000564300005743000058430000594300005a4300005b4300005c4300005d4300005e4300005f430000604300006143000062430000634300006443000065430000664300006743000068430000694300006a4300006b4300006c4300006d4300006e4300006f430000704300007143000072430000734300007443000075430000764300007743000078430000794300007a4300007b4300007c4300007d4300007e4300007f43000080430080804300008143008081430000824300808243000083430080834300008443008084430000854300808543000086430080864300008743008087430000884300808843000089430080894300008a4300808a4300008b4300808b4300008c4300808c4300008d4300808d4300008e4300808e4300008f4300808f43000090430080904300009143008091430000924300809243000093430080934300009443008094430000954300809543',
  typed:
    '0a016d2a120a01611204424f4f4c1a01022a040a0201002a1b0a01621204494e54381a01022a0d120bffffffffffffffffff017f2a1c0a01631205494e5436341a01022a0d1a0b80808080808080808001052a160a0164120655494e5431361a01022a062204ffff03012a1c0a0165120655494e5436341a01012a0c2a0affffffffffffffffff012a140a01661204465033321a01012a0632040000c03f2a200a01671204465036341a01022a123a10000000000000044000000000000000802a150a0168120542595445531a01022a06420261624200',
  statistics: '0a300a01611201311898f8d6d3a234320e0a0c0803108080808080808080103a060802120208014a090a013012041a020801',
  config:
    '0a3f0a01781a040a02080120082a120a0149100b220bffffffffffffffffff01103a04100220025a0e0a02040810053a0608031202080172080a016b12030a0176',
  load: '12016d1a0e0a06636f6e66696712041a027b7d1a190a1166696c653a312f6d6f64656c2e6f6e6e781204220200ff',
  stream: '0a026e6f12201a0131221b0a15747269746f6e5f66696e616c5f726573706f6e736512020800',
}

const fromHex = (hex: string) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
const toHex = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
function join({ parts, size }: EncodedMessage): Uint8Array {
  const out = new Uint8Array(size)
  let at = 0
  for (const part of parts) {
    out.set(part, at)
    at += part.length
  }
  expect(at).toBe(size)
  return out
}
function thrownBy(act: () => unknown): unknown {
  try {
    act()
    return undefined
  } catch (error) {
    return error
  }
}
const parse = (hex: string) => parseInferMessage(readInferMessage(fromHex(hex))).request

it('reads a request with every kind of parameter, a region and a classification', () => {
  const request = parse(GOLDEN.request)
  const data = new Uint8Array(Float32Array.from({ length: 300 }, (_, i) => i).buffer)
  expect(request).toMatchObject({
    model: 'add_sub',
    version: '1',
    id: 'é'.repeat(60),
    sequenceId: 7n,
    sequenceStart: true,
    parameters: { s: 'x', i: -5n, d: 0.5, b: true },
    inputs: [
      { name: 'INPUT0', datatype: 'FP32', shape: [1, 300], data },
      { name: 'INPUT1', datatype: 'INT32', shape: [2], region: { name: 'r', offset: 0, byteSize: 8 } },
    ],
    outputs: [{ name: 'OUTPUT0', classification: 3 }],
  })
})

it('reads typed contents as the bytes that raw ones would be', () => {
  const inputs = Object.fromEntries(parse(GOLDEN.typed).inputs.map(({ name, data }) => [name, toHex(data)]))
  expect(inputs).toEqual({
    a: '0100',
    b: 'ff7f',
    c: '0000000000000080' + '0500000000000000',
    d: 'ffff0100',
    e: 'ff'.repeat(8),
    f: '0000c03f',
    g: '0000000000000440' + '0000000000000080',
    h: '02000000' + '6162' + '00000000',
  })
})

it.each([
  ['ModelStatisticsResponse', GOLDEN.statistics],
  ['ModelConfigResponse', GOLDEN.config],
  ['RepositoryModelLoadRequest', GOLDEN.load],
])('%s: what was decoded encodes to the same bytes', (name, hex) => {
  expect(toHex(encodeMessage(name, decodeMessage(name, fromHex(hex))))).toBe(hex)
})

it('decodes a config with its enumerations, maps and lists', () => {
  expect(decodeMessage('ModelConfigResponse', fromHex(GOLDEN.config))['config']).toMatchObject({
    name: 'x',
    max_batch_size: 8,
    input: [{ name: 'I', data_type: 'TYPE_FP32', dims: [-1, 16] }],
    dynamic_batching: {
      preferred_batch_size: [4, 8],
      max_queue_delay_microseconds: 5n,
      priority_queue_policy: { 3: { timeout_action: 'DELAY' } },
    },
    instance_group: [{ kind: 'KIND_CPU', count: 2 }],
    parameters: { k: { string_value: 'v' } },
  })
})

it('writes one message of a stream', () => {
  const response = { model: '', version: '', id: '1', parameters: {}, outputs: [] }
  const bytes = join(encodeStreamMessage({ error: 'no', response, final: false }))
  expect(toHex(bytes)).toBe(GOLDEN.stream)
  expect(parseStreamResponse(bytes)).toMatchObject({
    error: 'no',
    response: { id: '1', parameters: { triton_final_response: false } },
  })
})

const tensors = fc.array(
  fc.record({ name: fc.string(), size: fc.constantFrom(0, 1, 7, 127, 128, 9_000), shape: fc.array(fc.nat()) }),
  { maxLength: 5 },
)

it('answers come back as they were, in however many pieces they left', () => {
  const parameters = fc.dictionary(
    fc.string({ minLength: 1 }),
    fc.oneof(fc.string(), fc.boolean(), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.double()),
  )
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), parameters, tensors, (id, values, list) => {
      const outputs = list.map(({ name, size, shape }) => ({
        name,
        datatype: 'UINT8' as const,
        shape,
        data: new Uint8Array(size).fill(size),
      }))
      const response = { model: 'm', version: '1', id, parameters: values, outputs }
      const back = parseInferResponse(join(encodeInferMessage(response)))
      expect({ ...back, parameters: { ...back.parameters } }).toEqual({ ...response, parameters: { ...values } })
    }),
  )
})

it('requests come back as they were', () => {
  fc.assert(
    fc.property(tensors, fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }), fc.nat(), (list, sequenceId, timeout) => {
      const inputs = list.map(({ size, shape }, index) => ({
        name: `I${index}`,
        datatype: 'UINT8' as const,
        shape,
        data: new Uint8Array(size),
        region: undefined,
      }))
      const request: InferRequest = {
        ...createRequest({ model: 'm', version: '' }),
        sequenceId,
        timeout,
        sequenceEnd: true,
        inputs,
        binaryOutputs: true,
      }
      const back = parseInferMessage(readInferMessage(join(encodeInferRequest(request)))).request
      expect(back).toEqual(request)
    }),
  )
})

it('bytes that are no message are refused, never more', () => {
  const whole = fromHex(GOLDEN.request)
  fc.assert(
    fc.property(fc.nat(whole.length - 1), fc.nat(255), fc.nat(whole.length), (at, byte, cut) => {
      const broken = whole.slice(0, cut)
      if (at < cut) broken[at] = byte
      const error = thrownBy(() => parseInferMessage(readInferMessage(broken)))
      return error === undefined || error instanceof ConchError
    }),
    { numRuns: 2_000 },
  )
})

it.each([
  ['a length beyond the end', '0aff'],
  ['a number that does not end', '08ffffffffffffffffffff'],
  ['field number 0', '0000'],
  ['a group', '0b'],
  ['a text that is not UTF-8', '0a01ff'],
])('refuses %s', (_, hex) => {
  expect(() => readInferMessage(fromHex(hex))).toThrow(/^unable to parse message: /)
})

it.each([['6d', { name: 'add', datatype: 'INT32' }, 'unable to find data for input tensor']])(
  'names what is missing',
  (_, input, text) => {
    const message = {
      model: 'm',
      version: '',
      id: '',
      parameters: undefined,
      outputs: [],
      raw: [],
      inputs: [{ ...input, shape: [1], parameters: undefined, contents: undefined }],
    }
    expect(() => parseInferMessage(message)).toThrow(`${text} 'add' for model 'm' in request.`)
  },
)
