import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { InferResponse, ModelConfig, Tensor } from '@conch/protocol'
import { completeConfig, normaliseConfig, parsePbtxt } from '@conch/protocol'
import { newTimings } from '../../request.ts'
import type { ActiveRequest } from '../../request.ts'
import { makeDirectory, NO_ENGINE, testRequest } from '../../testing.ts'
import type { BackendContext, BackendInstance, Batch, BatchAnswers } from '../contract.ts'
import { createPythonBackend } from './backend.ts'

/** A Python that has numpy: the tests' own, or the machine's. Undefined = none, and nothing here can be tried. */
export const PYTHON = findPython()
export const NO_PYTHON = 'needs Linux and a Python with numpy (npm test -- --only=conformance makes one)'

function findPython(): string | undefined {
  if (process.platform !== 'linux') return undefined
  const own = fileURLToPath(new URL('../../../../../.venv/bin/python', import.meta.url))
  return [own, 'python3'].find((python) => {
    if (python.startsWith('/') && !existsSync(python)) return false
    try {
      execFileSync(python, ['-c', 'import numpy'], { stdio: 'ignore' })
      return true
    } catch {
      return false
    }
  })
}

export const ECHO = `
import triton_python_backend_utils as pb_utils

class TritonPythonModel:
    def execute(self, requests):
        return [pb_utils.InferenceResponse([self.echo(r.inputs()[0])]) for r in requests]

    def echo(self, tensor):
        try:
            return pb_utils.Tensor("OUT", tensor.as_numpy())
        except pb_utils.TritonModelException:
            return pb_utils.Tensor.from_dlpack("OUT", tensor.to_dlpack())
`

export interface PythonModel {
  /** The body of model.py; what most need is imported before it. */
  readonly code: string
  readonly datatype?: string
  /** More of the config. */
  readonly extra?: string
  readonly maxBatch?: number
  readonly change?: Partial<BackendContext>
}

const IMPORTS = `import os, sys, time, signal, threading, ctypes, subprocess
import numpy as np
import triton_python_backend_utils as pb_utils
`

/** A model's directory and what the hallway would say of it. */
export async function makePythonModel(model: PythonModel) {
  const { code, datatype = 'TYPE_INT32', extra = '', maxBatch = 8, change = {} } = model
  const directory = await makeDirectory({ 'm/1/model.py': code === ECHO ? code : IMPORTS + code })
  cleanUp.push(directory.remove)
  const tensor = (name: string) => `{ name: "${name}" data_type: ${datatype} dims: [ -1 ] }`
  const text = `name: "m" backend: "python" max_batch_size: ${maxBatch}
    input ${tensor('IN')} output ${tensor('OUT')} ${extra}`
  const preferredGroup = { kind: 'KIND_CPU', count: 1 } as const
  const facts = { directoryName: 'm', versionFiles: ['model.py'], preferredGroup, gpus: [] }
  const config: ModelConfig = completeConfig(parsePbtxt(text).config, facts)
  const lines: string[] = []
  const modelDirectory = join(directory.directory, 'm')
  const context: BackendContext = {
    modelDirectory,
    versionDirectory: join(modelDirectory, '1'),
    version: '1',
    settings: {},
    log: (level, line) => void lines.push(`${level} ${line}`),
    engine: NO_ENGINE,
    ...change,
  }
  const settings = { 'python-executable': PYTHON ?? '', ...context.settings }
  return { config, context: { ...context, settings }, lines, directory: modelDirectory }
}

export async function openPythonModel(model: PythonModel) {
  const made = await makePythonModel(model)
  const backend = createPythonBackend()
  const config = normaliseConfig(await backend.complete(made.config, made.context))
  const loaded = await backend.load(config, made.context)
  const instance = await loaded.createInstance({ name: 'm_0_0', kind: 'KIND_CPU', deviceId: 0, profiles: [] })
  cleanUp.push(() => instance.close())
  const run = (...requests: readonly ActiveRequest[]) => runOn(instance, requests)
  return { ...made, config, instance, run }
}

const cleanUp: (() => Promise<void>)[] = []

/** To be called in an `afterEach`. */
export async function closePythonModels(): Promise<void> {
  for (const one of cleanUp.splice(0).reverse()) await one()
}

export function runOn(instance: BackendInstance, requests: readonly ActiveRequest[]): Promise<BatchAnswers> {
  const batch: Batch = {
    requests,
    rows: requests.length,
    outputs: new Set(['OUT']),
    computeInputEnd: 0,
    computeOutputStart: 0,
    signal: undefined,
  }
  return Promise.resolve(instance.execute(batch))
}

export function ints(...values: readonly number[]): Tensor {
  return {
    name: 'IN',
    datatype: 'INT32',
    shape: [1, values.length],
    data: new Uint8Array(Int32Array.from(values).buffer),
  }
}

/** The first output of each answer. */
export function outputsOf(answers: BatchAnswers): readonly (readonly number[])[] {
  if (answers === 'responded') throw new Error('the backend answered by itself')
  return answers.map((answer) => {
    if (typeof answer === 'string' || 'error' in answer) throw new Error('an answer without outputs', { cause: answer })
    return answer.outputs.slice(0, 1).flatMap(readInts)
  })
}

function readInts({ data }: Pick<Tensor, 'data'>): readonly number[] {
  return [...new Int32Array(new Uint8Array(data).buffer)]
}

/** A request that notes how it was answered. */
export class RecordedRequest implements ActiveRequest {
  readonly request
  readonly rows = 1
  readonly signal: AbortSignal | undefined
  readonly timings = newTimings()
  readonly chain = ['m']
  readonly responses: (readonly number[])[] = []
  error: unknown = undefined
  done = false
  readonly ended: Promise<void>
  #end: () => void = () => undefined

  constructor(input: Tensor = ints(1), signal?: AbortSignal) {
    this.request = testRequest('m', [input])
    this.signal = signal
    this.ended = new Promise((resolve) => (this.#end = resolve))
  }

  respond(response: InferResponse | undefined, final: boolean): void {
    if (this.done) return
    if (response !== undefined) this.responses.push(response.outputs.flatMap(readInts))
    if (final) this.#finish()
  }

  respondError(error: unknown): void {
    this.error = error
  }

  fail(error: unknown): void {
    if (this.done) return
    this.error = error
    this.#finish()
  }

  #finish(): void {
    this.done = true
    this.#end()
  }
}

/** Resolves when `is` holds: there is nothing to wait for but another process. */
export async function until(is: () => boolean): Promise<void> {
  while (!is()) await new Promise((resolve) => setTimeout(resolve, 10))
}
