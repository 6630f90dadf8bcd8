// Tensors as JSON against JSON.parse and JSON.stringify of the same text, in turns on one machine; and the cost of
// reading and writing one small request. Ratios below 1 mean that the codec is the faster one.
import { encodeInferResponse, parseInferRequest, type Tensor } from '../src/index.ts'

const TARGET = { model: 'm', version: '', maxInputSize: 2 ** 31 - 1 }
const ROUNDS = 15
const COUNT = 1_000_000

function time(work: () => void): number {
  const start = performance.now()
  work()
  return performance.now() - start
}

function median(times: number[]): number {
  return times.sort((a, b) => a - b)[times.length >> 1] ?? Number.NaN
}

/** Runs both in turns, so that whatever disturbs the machine disturbs both. */
function compare(name: string, ours: () => void, theirs: () => void): void {
  const times = { ours: [] as number[], theirs: [] as number[] }
  for (let i = 0; i < ROUNDS; i += 1) {
    times.ours.push(time(ours))
    times.theirs.push(time(theirs))
  }
  const [a, b] = [median(times.ours), median(times.theirs)]
  console.log(
    `${name.padEnd(34)} ${a.toFixed(1).padStart(7)} ms  ${b.toFixed(1).padStart(7)} ms  ×${(a / b).toFixed(2)}`,
  )
}

const NUMBERS: Readonly<Record<string, () => number>> = {
  'FP32 in 0…1': () => Math.fround(Math.random()),
  'FP32 in ±1': () => Math.fround(Math.random() * 2 - 1),
  'FP32 in ±1000': () => Math.fround(Math.random() * 2000 - 1000),
  'FP32 pixels 0…255': () => Math.floor(Math.random() * 256),
  'FP64 in 0…1': () => Math.random(),
}

console.log(`1 M numbers                          codec       JSON`)
for (const [name, next] of Object.entries(NUMBERS)) {
  const datatype = name.startsWith('FP32') ? 'FP32' : 'FP64'
  const numbers = Array.from({ length: COUNT }, next)
  const text = JSON.stringify(numbers)
  const body = new TextEncoder().encode(
    `{"inputs":[{"name":"A","shape":[${COUNT}],"datatype":"${datatype}","data":${text}}]}`,
  )
  const request = parseInferRequest(body, undefined, TARGET)
  compare(
    `read  ${name}`,
    () => void parseInferRequest(body, undefined, TARGET),
    () => void JSON.parse(text),
  )
  const outputs: readonly Tensor[] = request.inputs
  const response = { model: 'm', version: '1', id: '', parameters: {}, outputs }
  compare(
    `write ${name}`,
    () => void encodeInferResponse(response, request),
    () => void JSON.stringify(numbers),
  )
}

const names = ['0', '1']
const head = new TextEncoder().encode(
  JSON.stringify({
    inputs: names.map((n) => ({
      name: `INPUT${n}`,
      shape: [1, 16],
      datatype: 'FP32',
      parameters: { binary_data_size: 64 },
    })),
    outputs: names.map((n) => ({ name: `OUTPUT${n}`, parameters: { binary_data: true } })),
  }),
)
const body = new Uint8Array(head.length + 128)
body.set(head)
const request = parseInferRequest(body, head.length, TARGET)
const outputs = names.map((n): Tensor => ({
  name: `OUTPUT${n}`,
  datatype: 'FP32',
  shape: [1, 16],
  data: new Uint8Array(64),
}))
const response = { model: 'm', version: '1', id: '', parameters: {}, outputs }

function each(name: string, work: () => void): void {
  const calls = 20_000
  const best = Math.min(...Array.from({ length: ROUNDS }, () => time(() => Array.from({ length: calls }, work))))
  console.log(`${name.padEnd(34)} ${((best / calls) * 1000).toFixed(2)} µs`)
}
console.log('\none small binary request (2×16 FP32)')
each('read', () => void parseInferRequest(body, head.length, TARGET))
each('write', () => void encodeInferResponse(response, request))
