import { randomFillSync } from 'node:crypto'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { BYTE_SIZE, ConchError, countElements, createRequest, toProtocolDatatype } from '@conch/protocol'
import type { InferRequest, ModelConfig, ModelWarmup, Tensor, WarmupInput } from '@conch/protocol'
import type { Batch, BatchAnswers } from '../backend/contract.ts'
import type { Reporter } from '../observe/contract.ts'
import { Flight, nameRequest, newTimings } from '../request.ts'
import type { FlightOwner, Outcome } from '../request.ts'
import type { Slot } from './contract.ts'

const MAX_REQUESTS = 65_536
/** Milliseconds. Models that are quick run on this thread, a million times if the config says so; others must get their turn. */
const LONGEST_TURN = 5

export interface WarmupParts {
  readonly config: ModelConfig
  /** The model's directory: samples with files find them in its `warmup` folder. */
  readonly directory: string
  readonly reporter: Reporter
  /** Checks a request as if a client had sent it. */
  readonly check: (request: InferRequest) => void
}

/** Runs the config's warm-up samples on a new instance, in order, before it becomes ready (lifecycle §8). */
export async function warmUp(slot: Slot, parts: WarmupParts): Promise<void> {
  for (const sample of parts.config.model_warmup) {
    if (sample.batch_size === 0) continue
    checkSize(sample, slot, parts.config)
    const request = await makeRequest(sample, parts)
    let yielded = performance.now()
    for (let run = 0; run < Math.max(1, sample.count); run++) {
      await runSample(slot, { sample, request, parts })
      if (performance.now() - yielded < LONGEST_TURN) continue
      await setImmediate()
      yielded = performance.now()
    }
  }
}

function checkSize(sample: ModelWarmup, slot: Slot, config: ModelConfig): void {
  const most = config.max_batch_size > 0 ? config.max_batch_size : MAX_REQUESTS
  if (sample.batch_size <= most) return
  const why = `batch size ${sample.batch_size} for '${slot.name}', max allowed is ${most}`
  throw new ConchError('INVALID_ARG', `failed to run warmup sample '${sample.name}': ${why}`)
}

async function makeRequest(sample: ModelWarmup, parts: WarmupParts): Promise<InferRequest> {
  const { config } = parts
  const known = new Set(config.input.map(({ name }) => name))
  const batches = config.max_batch_size > 0
  const inputs: Tensor[] = []
  const injected: Tensor[] = []
  for (const [name, input] of Object.entries(sample.inputs)) {
    const shape = batches || !known.has(name) ? [1, ...input.dims] : input.dims
    const tensor = await makeTensor(name, shape, { input, directory: parts.directory })
    if (known.has(name)) inputs.push(tensor)
    else injected.push(tensor)
  }
  const request = { ...createRequest({ model: config.name, version: '' }), inputs, binaryOutputs: true }
  checkRequest(request, injected, { sample, parts })
  return { ...request, inputs: [...inputs, ...injected] }
}

/** Inputs of other names are what a batcher would add; where there is none, they are mistakes, and said to be. */
function checkRequest(
  request: InferRequest,
  injected: readonly Tensor[],
  { sample, parts }: { sample: ModelWarmup; parts: WarmupParts },
): void {
  const { sequence_batching, batch_input, input } = parts.config
  const [unknown] = sequence_batching === undefined && batch_input.length === 0 ? injected : []
  try {
    parts.check(request)
  } catch (error) {
    if (!(error instanceof ConchError) || unknown === undefined) throw error
    const names = input.map(({ name }) => name).join(', ')
    const fact = `warm-up '${sample.name}' names the unknown input '${unknown.name}'; the model's inputs: ${names}`
    throw new ConchError(error.code, `${error.message} (${fact})`, { cause: error })
  }
}

async function makeTensor(
  name: string,
  shape: readonly number[],
  from: { input: WarmupInput; directory: string },
): Promise<Tensor> {
  const { input, directory } = from
  if (shape.some((dim) => dim < 0)) {
    const rule = 'warmup setting expects all variable-size dimensions are specified for input'
    throw new ConchError('INVALID_ARG', `${rule} '${name}'`)
  }
  const datatype = toProtocolDatatype(input.data_type)
  if (datatype === undefined) throw new ConchError('INVALID_ARG', `warmup input '${name}' has no data_type`)
  const elements = countElements(shape)
  // Strings are empty ones: each is its length alone.
  const size = elements * (datatype === 'BYTES' ? 4 : BYTE_SIZE[datatype])
  if (size > 2 ** 31) throw new ConchError('INVALID_ARG', `warmup input '${name}' has ${size} bytes`)
  const { input_data_file: file } = input
  if (file !== undefined) {
    const data = await readSample(join(directory, 'warmup', file), file, datatype === 'BYTES' ? undefined : size)
    return { name, datatype, shape, data }
  }
  if (input.zero_data !== true && input.random_data !== true) {
    const rule = `warmup setting expects input '${name}' to have input_data_type set`
    throw new ConchError('INVALID_ARG', nameRequest('') + rule)
  }
  const data = new Uint8Array(size)
  if (input.random_data === true && datatype !== 'BYTES') randomFillSync(data)
  return { name, datatype, shape, data }
}

/** `size`: bytes that are needed; longer files are cut. Undefined = the whole file. */
async function readSample(path: string, name: string, size: number | undefined): Promise<Uint8Array> {
  const file = await open(path).catch((cause: unknown) => {
    const text = `failed to open text file for read warmup/${name}: No such file or directory`
    throw new ConchError('INTERNAL', text, { cause })
  })
  try {
    const present = (await file.stat()).size
    const wanted = size ?? present
    if (present < wanted) {
      const text = `warmup setting expects ${wanted} bytes, but the data provided from ${name}only has ${present} bytes`
      throw new ConchError(
        'INVALID_ARG',
        `${nameRequest('')}${text}. Raw little-endian bytes are expected; images are not decoded`,
      )
    }
    const data = new Uint8Array(wanted)
    await file.read(data, 0, wanted, 0)
    return data
  } finally {
    await file.close()
  }
}

interface Run {
  readonly sample: ModelWarmup
  readonly request: InferRequest
  readonly parts: WarmupParts
}

async function runSample(slot: Slot, { sample, request, parts }: Run): Promise<void> {
  const { reporter, config } = parts
  const owner: FlightOwner = {
    ended: (flight: Flight, outcome: Outcome) => reporter.request(flight, outcome),
  }
  const start = performance.now()
  const flights = Array.from({ length: sample.batch_size }, () => {
    const timings = { ...newTimings(), start, queued: start, computeStart: start }
    return new Flight(owner, request, {
      rows: 1,
      chain: [config.name],
      signal: undefined,
      timings,
      onResponse: () => undefined,
    })
  })
  const outputs = new Set(config.output.map(({ name }) => name))
  const batch: Batch = {
    requests: flights,
    rows: flights.length,
    outputs,
    computeInputEnd: 0,
    computeOutputStart: 0,
    signal: undefined,
  }
  const ends = flights.map((flight) => flight.wait())
  try {
    settle(flights, batch, await slot.instance.execute(batch))
  } catch (error) {
    for (const flight of flights) flight.fail(error, 'backend')
  }
  const failed = (await Promise.allSettled(ends)).flatMap((end) =>
    end.status === 'rejected' ? [end.reason as Error] : [],
  )
  const first = failed[0]
  if (first === undefined) {
    const { computeInputEnd, computeOutputStart, computeEnd } = flights[0]?.timings ?? newTimings()
    reporter.execution({ computeStart: start, computeInputEnd, computeOutputStart, computeEnd }, batch.rows)
    return
  }
  const texts = [...new Set(failed.map((error) => error.message))].join('; ')
  const code = first instanceof ConchError ? first.code : 'INTERNAL'
  throw new ConchError(code, `failed to run warmup sample '${sample.name}': ${texts}; `, { cause: first })
}

function settle(flights: readonly Flight[], batch: Batch, answers: BatchAnswers): void {
  const end = performance.now()
  for (const [index, flight] of flights.entries()) {
    const { timings } = flight
    timings.computeInputEnd = batch.computeInputEnd === 0 ? timings.computeStart : batch.computeInputEnd
    timings.computeOutputStart = batch.computeOutputStart === 0 ? end : batch.computeOutputStart
    if (answers === 'responded') continue
    timings.computeEnd = end
    const answer = answers[index]
    if (answer === 'responded') continue
    if (answer === undefined) flight.fail(new ConchError('INTERNAL', 'no response'), 'backend')
    else if (answer === 'again' || 'outputs' in answer) flight.respond(undefined, true)
    else flight.fail(answer.error, 'backend')
  }
}
