import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { ConchError } from '@conch/protocol'
import type { Exchange } from '../exchange.ts'
import { findHeader } from '../headers.ts'
import { requireJsonObject } from '../read-json.ts'
import { errorBody, send, sendEmpty, sendJson } from '../reply.ts'
import { isOutOfMemory } from './out-of-memory.ts'

interface Registered {
  /** As the platform named it. */
  readonly url: string
  readonly root: string
  /** Name inside the engine. */
  readonly model: string
}

const CONFIG = 'config.pbtxt'
/** As long as the original waits for an unload, milliseconds. */
const UNLOAD_BUDGET = 350_000
const POLL = 100

/** SageMaker's multi-model endpoints: models that come and go by URL (reference: cloud §A.2). */
export class MultiModel {
  readonly #modelsRoot: string
  readonly #models = new Map<string, Registered>()

  constructor(modelsRoot: string) {
    this.#modelsRoot = modelsRoot
  }

  has(name: string): boolean {
    return this.#models.has(name)
  }

  async list(exchange: Exchange): Promise<void> {
    const { engine } = exchange.face
    const shown: object[] = []
    for (const [name, { url, model }] of this.#models) {
      shown.push((await engine.modelReady(model, '')) ? { modelName: name, modelUrl: url } : {})
    }
    sendJson(exchange, { models: shown })
  }

  describe(exchange: Exchange, name: string): void {
    const known = this.#models.get(name)
    if (known === undefined) sendEmpty(exchange, 404, 'text/plain')
    else sendJson(exchange, { modelName: name, modelUrl: known.url })
  }

  async load(exchange: Exchange): Promise<void> {
    const { engine } = exchange.face
    const body = await requireJsonObject(exchange)
    const [name, url] = [body['model_name'], body['url']]
    if (typeof name !== 'string' || name === '' || typeof url !== 'string')
      return sendEmpty(exchange, 400, 'text/plain')
    if (this.#models.has(name)) return sendEmpty(exchange, 409, 'text/plain')
    const directory = await this.#contain(url)
    if (directory === undefined) return sendEmpty(exchange, 400, 'text/plain')
    const model = findHeader(exchange.req.rawHeaders, 'x-amzn-sagemaker-target-model') ?? name
    const { root, folder } = await findLayout(directory)
    this.#models.set(name, { url, root, model })
    try {
      await engine.addRepository(root, { folder, model })
      await engine.load(model)
      sendEmpty(exchange, 200, 'text/plain')
    } catch (error) {
      if (!(error instanceof ConchError && error.code === 'ALREADY_EXISTS')) engine.removeRepository(root)
      this.#models.delete(name)
      sendFailure(exchange, error)
    }
  }

  async unload(exchange: Exchange, name: string): Promise<void> {
    const { engine } = exchange.face
    const known = this.#models.get(name)
    if (known === undefined) return sendEmpty(exchange, 404, 'text/plain')
    try {
      await engine.unload(known.model, true)
      await waitUntilUnloaded(exchange, known.model)
      engine.removeRepository(known.root)
      this.#models.delete(name)
      sendEmpty(exchange, 200, 'text/plain')
    } catch (error) {
      sendFailure(exchange, error)
    }
  }

  /** The real directory, or undefined for what does not lie below the platform's models. */
  async #contain(url: string): Promise<string | undefined> {
    try {
      const root = await realpath(this.#modelsRoot)
      const directory = await realpath(resolve(url))
      return directory.startsWith(root + sep) && (await stat(directory)).isDirectory() ? directory : undefined
    } catch {
      return undefined
    }
  }
}

/** Either the URL is the model's directory, or it holds it: the ensemble, else the last one. */
async function findLayout(directory: string): Promise<{ root: string; folder: string }> {
  const entries = await readdir(directory, { withFileTypes: true })
  if (entries.some(({ name }) => name === CONFIG)) return { root: dirname(directory), folder: basename(directory) }
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  for (const folder of folders) {
    const text = await readFile(join(directory, folder, CONFIG), 'utf8').catch(() => '')
    if (/platform\s*:\s*"ensemble"/.test(text)) return { root: directory, folder }
  }
  return { root: directory, folder: folders.toSorted().at(-1) ?? '' }
}

async function waitUntilUnloaded({ face }: Exchange, model: string): Promise<void> {
  const end = performance.now() + UNLOAD_BUDGET
  while (performance.now() < end) {
    const entries = (await face.engine.index(false)).filter(({ name }) => name === model)
    if (entries.every(({ state }) => state !== 'UNLOADING' && state !== 'READY')) return
    await new Promise((done) => setTimeout(done, POLL))
  }
  face.log.write('warning', `SageMaker: model '${model}' is still unloading`)
}

function sendFailure(exchange: Exchange, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error)
  const status = isOutOfMemory(message) ? 507 : 400
  send(exchange, status, { type: 'text/plain', parts: [errorBody(message)] })
}
