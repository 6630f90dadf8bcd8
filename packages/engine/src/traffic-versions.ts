import type { InferRequest, InferResponse } from '@conch/protocol'
import type { InferContext, ModelMetadata } from './contract.ts'
import type { Flight, ResponseListener } from './request.ts'
import type { ModelVersions } from './traffic/contract.ts'

interface Version {
  readonly plan: { readonly version: string }
  readonly metadata: ModelMetadata
  begin(request: InferRequest, context: InferContext | undefined, onResponse: ResponseListener | undefined): Flight
}

/** Where versions are looked up. */
interface Versions {
  /** Throws when there is none. */
  find(model: string, version: string): Version
  latest(model: string): Version | undefined
  serves(model: string, version: string): boolean
}

/** What the traffic of a model must know of its versions. */
export function findVersions(registry: Versions, model: string): ModelVersions {
  return {
    isReady: (version) => registry.serves(model, version),
    latest: () => registry.latest(model)?.plan.version,
    inputsOf: (version) => JSON.stringify(registry.find(model, version).metadata.inputs),
    ask: async (request, signal) => {
      const responses: InferResponse[] = []
      const take = (response: InferResponse) => void responses.push(response)
      await registry.find(model, request.version).begin(request, { signal }, take).wait()
      return responses
    },
  }
}
