import type { FetchedModel, Source } from '../contract.ts'
import { openLocalSource } from './source.ts'

/** A repository with one model, whose folder has another name than the model (SageMaker's multi-model endpoints). */
export async function openMappedSource(
  root: string,
  configName: string,
  mapping: { folder: string; model: string },
): Promise<Source> {
  return new MappedSource(await openLocalSource(root, configName), mapping)
}

class MappedSource implements Source {
  readonly root: string
  readonly name: string
  readonly #inner: Source
  readonly #mapping: { readonly folder: string; readonly model: string }

  constructor(inner: Source, mapping: { folder: string; model: string }) {
    this.root = inner.root
    this.name = inner.name
    this.#inner = inner
    this.#mapping = mapping
  }

  async list(): Promise<readonly string[]> {
    return (await this.#inner.has(this.#mapping.folder)) ? [this.#mapping.model] : []
  }

  async has(model: string): Promise<boolean> {
    return model === this.#mapping.model && this.#inner.has(this.#mapping.folder)
  }

  async fetch(model: string): Promise<FetchedModel | undefined> {
    return model === this.#mapping.model ? this.#inner.fetch(this.#mapping.folder) : undefined
  }
}
