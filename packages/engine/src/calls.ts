import type { InferRequest, InferResponse } from '@conch/protocol'
import type { CustomFamily, CustomKind, EngineCalls, NestedCall } from './backend/contract.ts'
import type { InferContext, LoadOverride } from './contract.ts'
import type { Flight } from './request.ts'

/** A version that can be asked on behalf of a request. */
interface Target {
  begin(
    request: InferRequest,
    context: InferContext | undefined,
    onResponse: ((response: InferResponse) => void) | undefined,
  ): Flight
}

export interface CallParts {
  /** Throws when there is none. */
  readonly find: (model: string, version: string) => Target
  readonly load: (model: string, override: LoadOverride) => Promise<void>
  readonly unload: (model: string, unloadDependents: boolean) => Promise<void>
  readonly isReady: (model: string, version: string) => Promise<boolean>
  readonly createFamily: (kind: CustomKind, name: string, description: string) => CustomFamily
}

/** What models ask of the engine that serves them. */
export function createCalls(parts: CallParts): EngineCalls {
  return { ...parts, infer: async (request, call) => inferNested(parts, request, call) }
}

function inferNested(parts: CallParts, request: InferRequest, call: NestedCall): Promise<InferResponse | undefined> {
  const { signal, chain, onResponse, onError } = call
  return parts.find(request.model, request.version).begin(request, { signal, chain, onError }, onResponse).wait()
}
