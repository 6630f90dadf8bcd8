import { existsSync, readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import {
  BYTE_SIZE,
  completeConfig,
  countElements,
  DATATYPES,
  encodeBytes,
  normaliseConfig,
  parsePbtxt,
} from '@conch/protocol'
import type { Datatype, ModelConfig, Tensor } from '@conch/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { newTimings } from '../request.ts'
import type { ActiveRequest } from '../request.ts'
import { FIXTURE_MODELS, NO_ENGINE, testRequest } from '../testing.ts'
import type { Backend, BackendContext, BackendInstance, Batch, BatchAnswer, InstanceSpec } from './contract.ts'

/** The directory of a fixture, of those that load or of those that do not. */
export function findFixture(model: string): string {
  const whole = join(FIXTURE_MODELS, model)
  return existsSync(whole) ? whole : join(FIXTURE_MODELS, '../broken', model)
}

/** A place and a log for a model of the fixture repository. */
export function contextOf(model: string, change: Partial<BackendContext> = {}): BackendContext & { lines: string[] } {
  const lines: string[] = []
  const modelDirectory = findFixture(model)
  return {
    modelDirectory,
    versionDirectory: join(modelDirectory, '1'),
    version: '1',
    settings: {},
    log: (level, text) => void lines.push(`${level} ${text}`),
    engine: NO_ENGINE,
    lines,
    ...change,
  }
}

/** The config as written or of the fixture, completed with what needs no backend. */
export async function configOf(model: string, text?: string): Promise<ModelConfig> {
  const directory = findFixture(model)
  const file = join(directory, 'config.pbtxt')
  const written = text ?? (existsSync(file) ? readFileSync(file, 'utf8') : '')
  const { config, problems } = parsePbtxt(written)
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([])
  const versionFiles = existsSync(join(directory, '1')) ? await readdir(join(directory, '1')) : ['model.onnx']
  const facts = {
    directoryName: model,
    versionFiles,
    preferredGroup: { kind: 'KIND_CPU', count: 1 } as const,
    gpus: [],
  }
  return completeConfig(config, facts)
}

export const CPU: InstanceSpec = { name: 'm_0', kind: 'KIND_CPU', deviceId: 0, profiles: [] }

/** What the hallway does with a model, without the hallway. Closed after the test. */
export async function openInstance(
  backend: Backend,
  config: ModelConfig,
  context: BackendContext,
): Promise<{ config: ModelConfig; instance: BackendInstance; close: () => Promise<void> }> {
  const completed = normaliseConfig(await backend.complete(config, context))
  const model = await backend.load(completed, context)
  const instance = await model.createInstance(CPU)
  const close = async () => {
    await instance.close()
    await model.close()
  }
  opened.push(close)
  return { config: completed, instance, close }
}

const opened: (() => Promise<void>)[] = []

/** To be called in an `afterEach`. */
export async function closeInstances(): Promise<void> {
  for (const close of opened.splice(0)) await close()
}

export function tensor(name: string, datatype: Datatype, shape: readonly number[], data?: Uint8Array): Tensor {
  return { name, datatype, shape, data: data ?? fillPattern(datatype, shape) }
}

/** Bytes that differ from element to element and mean something in every datatype. */
export function fillPattern(datatype: Datatype, shape: readonly number[]): Uint8Array {
  const elements = countElements(shape)
  if (datatype === 'BYTES')
    return encodeBytes(Array.from({ length: elements }, (_, i) => NASTY[i % NASTY.length] ?? ''))
  const data = new Uint8Array(elements * BYTE_SIZE[datatype])
  return datatype === 'BOOL' ? data.map((_, i) => i % 2) : data.map((_, i) => (i * 7 + 3) % 61)
}

const NASTY = [
  '',
  Uint8Array.of(0),
  Uint8Array.of(0, 0xff, 0, 0xfe),
  'grüße',
  Uint8Array.of(0xff, 0xff),
  'x'.repeat(300),
  Uint8Array.of(98, 0, 99),
]

export function activeRequest(inputs: readonly Tensor[], rows = 1, signal?: AbortSignal): ActiveRequest {
  return {
    request: testRequest('m', inputs),
    rows,
    signal,
    timings: newTimings(),
    chain: ['m'],
    done: false,
    respond: () => undefined,
    respondError: () => undefined,
    fail: () => undefined,
  }
}

export function batchOf(requests: readonly ActiveRequest[], outputs: readonly string[], signal?: AbortSignal): Batch {
  const rows = requests.reduce((sum, request) => sum + request.rows, 0)
  return { requests, rows, outputs: new Set(outputs), computeInputEnd: 0, computeOutputStart: 0, signal }
}

export async function execute(instance: BackendInstance, batch: Batch): Promise<readonly BatchAnswer[]> {
  const answers = await instance.execute(batch)
  if (answers === 'responded') throw new Error('the backend answered by itself')
  return answers
}

export function outputsOf(answer: BatchAnswer | undefined): readonly Tensor[] {
  if (answer === undefined) throw new Error('there is no answer')
  if (typeof answer === 'string') throw new Error(`the answer is '${answer}'`)
  if ('error' in answer) throw answer.error
  return answer.outputs
}

/** A model that gives back what it gets, with a batch dimension and one variable one. */
export interface EchoModel {
  readonly config: ModelConfig
  readonly context: BackendContext
  readonly input: string
  readonly output: string
}

export interface BackendUnderTest {
  readonly name: string
  readonly create: () => Backend
  readonly echo: (datatype: Datatype) => Promise<EchoModel>
}

/** What every backend has to do. */
export function describeBackend({ name, create, echo }: BackendUnderTest): void {
  const open = async (datatype: Datatype) => {
    const model = await echo(datatype)
    const { instance } = await openInstance(create(), model.config, model.context)
    const ask = (tensors: readonly Tensor[]) =>
      execute(
        instance,
        batchOf(
          tensors.map((one) => activeRequest([one], one.shape[0])),
          [model.output],
        ),
      )
    return { ...model, instance, ask }
  }

  describe(`${name} backend`, () => {
    afterEach(closeInstances)

    for (const datatype of DATATYPES) {
      it(`gives back ${datatype} bit for bit`, async () => {
        const { input, output, ask } = await open(datatype)
        for (const shape of [
          [1, 1],
          [1, 9],
          [3, 5],
          [2, 4],
          [2, 4],
        ]) {
          const sent = tensor(input, datatype, shape)
          const [answer] = await ask([sent])
          expect(outputsOf(answer)).toEqual([expect.objectContaining({ name: output, datatype, shape })])
          expect(Buffer.compare(outputsOf(answer)[0]!.data, sent.data)).toBe(0)
        }
      })

      it(`joins requests of ${datatype} and cuts the answer`, async () => {
        const { input, ask } = await open(datatype)
        const rows = [2, 1, 3]
        const sent = rows.map((count, i) => tensor(input, datatype, [count, 3 + (i - i)]))
        const answers = await ask(sent)
        expect(answers).toHaveLength(3)
        for (const [i, answer] of answers.entries()) {
          const got = outputsOf(answer)[0]!
          expect(got.shape).toEqual(sent[i]?.shape)
          expect(Buffer.compare(got.data, sent[i]!.data)).toBe(0)
        }
      })
    }

    for (const shape of [
      [1, 0],
      [2, 0],
    ]) {
      it(`gives back a tensor without elements, [${shape.join(',')}]`, async () => {
        for (const datatype of ['FP32', 'BYTES'] as const) {
          const { input, ask } = await open(datatype)
          const got = outputsOf((await ask([tensor(input, datatype, shape)]))[0])[0]!
          expect(got.shape).toEqual(shape)
          expect(got.data).toHaveLength(0)
        }
      })
    }

    it('reads unaligned bytes', async () => {
      const { input, ask } = await open('FP64')
      for (const elements of [3, 50_000]) {
        for (const offset of [1, 2, 4, 7]) {
          const source = fillPattern('FP64', [1, elements])
          const data = new Uint8Array(source.length + offset).subarray(offset)
          data.set(source)
          const got = outputsOf((await ask([tensor(input, 'FP64', [1, elements], data)]))[0])[0]!
          expect(Buffer.compare(got.data, source)).toBe(0)
        }
      }
    })

    it('leaves answers alone when it runs again', async () => {
      const { input, ask } = await open('FP32')
      for (const elements of [4, 4_096, 400_000]) {
        const first = tensor(input, 'FP32', [1, elements])
        const expected = Uint8Array.from(first.data)
        const kept = outputsOf((await ask([first]))[0])[0]!
        for (let i = 0; i < 8; i++) {
          await ask([tensor(input, 'FP32', [1, elements], new Uint8Array(4 * elements).fill(i))])
        }
        expect(Buffer.compare(kept.data, expected)).toBe(0)
      }
    })

    it('stamps the batch', async () => {
      const { input, output, instance } = await open('FP32')
      for (let i = 0; i < 10; i++) {
        const before = performance.now()
        const batch = batchOf([activeRequest([tensor(input, 'FP32', [1, 4])])], [output])
        await execute(instance, batch)
        expect(batch.computeInputEnd).toBeGreaterThanOrEqual(before)
        expect(batch.computeOutputStart).toBeGreaterThanOrEqual(batch.computeInputEnd)
        expect(performance.now()).toBeGreaterThanOrEqual(batch.computeOutputStart)
      }
    })

    it('can be closed twice', async () => {
      const { instance } = await open('FP32')
      await instance.close()
      await expect(instance.close()).resolves.toBeUndefined()
    })
  })
}
