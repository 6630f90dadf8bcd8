import { encodeInferResponse, parseInferRequest } from '@conch/protocol'
import { binaryRequest, drive, driveInTurns, readPause, round, startEcho, startWatched } from './measure.ts'
import { makeRepository } from './models.ts'
import { median, report } from './targets.ts'

/** Large tensors: 5 MB binary through identity models against a bare echo, and a million floats as JSON. */
const conch = await startWatched(makeRepository(['identity', 'identity_backend']))
const echo = await startEcho()
try {
  await benchBinary()
  benchJson()
  await benchJsonPause()
} finally {
  await conch.stop()
  await echo.stop()
}

async function benchBinary(): Promise<void> {
  const data = new Float32Array(1_310_720).map((_, i) => i / 7)
  const ask = (model: string, name: string) => binaryRequest(model, [{ name, shape: [data.length], data }])
  const byOnnx = ask('identity', 'IN')
  const byBackend = ask('identity_backend', 'INPUT0')
  const jobs = [
    { server: echo, request: byOnnx },
    { server: conch, request: byOnnx },
    { server: conch, request: byBackend },
  ]
  await driveInTurns(jobs, { connections: 1, seconds: 1, rounds: 1 })
  const [bare = [], onnx = [], backend = []] = await driveInTurns(jobs, { connections: 1, seconds: 1, rounds: 9 })
  for (const [name, loads] of [
    ['ONNX Identity', onnx],
    ['identity backend', backend],
  ] as const) {
    const ratios = loads.map(({ p50 }, i) => p50 / (bare[i]?.p50 ?? Number.NaN))
    const cpu = loads.map((load, i) => load.cpu / (bare[i]?.cpu ?? Number.NaN))
    report({
      name: `5 MB binary through ${name}`,
      limit: 2,
      measured: round(median(ratios), 2),
      unit: '× echo',
      note: `echo ${round(median(bare.map(({ p50 }) => p50)), 2)} ms, CPU × ${round(median(cpu), 2)}`,
    })
  }
}

function makeJson() {
  const numbers = Array.from({ length: 1_000_000 }, () => Math.fround(Math.random() * 2 - 1))
  const text = JSON.stringify(numbers)
  const body = `{"inputs":[{"name":"IN","datatype":"FP32","shape":[${numbers.length}],"data":${text}}]}`
  return { numbers, text, body: Buffer.from(body) }
}

function benchJson(): void {
  const { numbers, text, body } = makeJson()
  const target = { model: 'm', version: '', maxInputSize: 2 ** 30 }
  const request = parseInferRequest(body, undefined, target)
  const response = { model: 'm', version: '1', id: '', parameters: {}, outputs: request.inputs }
  compare('parse', () => parseInferRequest(body, undefined, target), { JSON: () => JSON.parse(text) as unknown })
  compare('write', () => encodeInferResponse(response, request), { JSON: () => JSON.stringify(numbers) })
}

function compare(what: string, ours: () => unknown, { JSON: theirs }: { JSON: () => unknown }): void {
  const ratios: number[] = []
  const times: number[] = []
  for (let turn = 0; turn < 15; turn += 1) {
    const own = measureCpu(ours)
    const other = measureCpu(theirs)
    ratios.push(own / other)
    times.push(other)
  }
  report({
    name: `JSON, 1 M floats: ${what}`,
    limit: 1,
    measured: round(median(ratios), 2),
    unit: `× JSON.${what === 'parse' ? 'parse' : 'stringify'}`,
    note: `${round(median(times))} ms there`,
  })
}

/** Milliseconds of this thread. */
function measureCpu(work: () => unknown): number {
  const { user, system } = process.threadCpuUsage()
  work()
  const used = process.threadCpuUsage({ user, system })
  return (used.user + used.system) / 1000
}

async function benchJsonPause(): Promise<void> {
  const { body } = makeJson()
  const head = `POST /v2/models/identity/infer HTTP/1.1\r\nHost: t\r\nContent-Length: ${body.length}\r\n\r\n`
  const request = Buffer.concat([Buffer.from(head), body])
  await drive(conch, request, { connections: 1, seconds: 1 })
  await readPause(conch)
  const { p50 } = await drive(conch, request, { connections: 1, seconds: 4 })
  const { own, longest } = await readPause(conch)
  report({
    name: 'engine thread held by JSON of 1 M floats',
    limit: 20,
    measured: round(own),
    unit: 'ms',
    note: `${round(p50)} ms a round trip; ${round(longest)} ms with the machine's own pauses`,
  })
}
