import { ConchError } from '@conch/protocol'
import type { InferRequest, InferResponse } from '@conch/protocol'
import type { CustomFamily, CustomKind, EngineCalls, NestedCall } from './backend/contract.ts'
import type { InferContext, LoadOverride } from './contract.ts'
import type { Flight, ResponseListener } from './request.ts'
import type { Route } from './traffic/contract.ts'

/** A version that can be asked on behalf of a request. */
interface Target {
  readonly decoupled: boolean
  begin(request: InferRequest, context: InferContext | undefined, onResponse: ResponseListener | undefined): Flight
}

export interface CallParts {
  /** Throws when there is none. */
  readonly find: (model: string, version: string) => Target
  /** Where a call without a version goes, by the policy of its model. */
  readonly route?: (request: InferRequest) => Route | undefined
  readonly load: (model: string, override: LoadOverride) => Promise<void>
  readonly unload: (model: string, unloadDependents: boolean) => Promise<void>
  readonly isReady: (model: string, version: string) => Promise<boolean>
  readonly createFamily: (kind: CustomKind, name: string, description: string) => CustomFamily
}

/** What models ask of the engine that serves them. */
export function createCalls(parts: CallParts): EngineCalls {
  const calls = new NestedCalls(parts)
  const { load, unload, isReady, createFamily } = parts
  return { load, unload, isReady, createFamily, infer: async (request, call) => calls.infer(request, call) }
}

/** Requests of models to models (python-backend §5). A call that fails has the original's text; an error of the called model is passed on. */
class NestedCalls {
  readonly #parts: CallParts

  constructor(parts: CallParts) {
    this.#parts = parts
  }

  async infer(request: InferRequest, call: NestedCall): Promise<InferResponse | undefined> {
    const route = this.#route(request)
    const flight = this.#begin(request, call, route)
    // Its schedule took it: what goes wrong from here on is an error of the model.
    const taken = !flight.done || flight.timings.computeStart !== 0 || call.signal?.aborted === true
    try {
      return await (route === undefined ? flight.wait() : route.follow(flight))
    } catch (error) {
      if (!taken) throw failCall(request.model, messageOf(error), error)
      if (isEmpty(error)) throw new ConchError('INTERNAL', 'Unexpected empty response.', { cause: error })
      throw error
    }
  }

  #route(request: InferRequest): Route | undefined {
    try {
      return this.#parts.route?.(request)
    } catch (error) {
      throw failCall(
        request.model,
        `Failed for execute the inference request. Model '${request.model}' is not ready.`,
        error,
      )
    }
  }

  #begin(request: InferRequest, call: NestedCall, route: Route | undefined): Flight {
    const { signal, chain, trace, onResponse, onError } = call
    const { model } = request
    const target = this.#find(request, route)
    if (target.decoupled && onResponse === undefined) throw failCall(model, describeDecoupled(model))
    try {
      return target.begin(request, { signal, chain, trace, onError }, onResponse)
    } catch (error) {
      route?.refused(error)
      throw failCall(model, messageOf(error), error)
    }
  }

  #find({ model, version }: InferRequest, route: Route | undefined): Target {
    try {
      return this.#parts.find(model, route?.version ?? version)
    } catch (error) {
      throw failCall(model, `Failed for execute the inference request. Model '${model}' is not ready.`, error)
    }
  }
}

function failCall(model: string, text: string, cause?: unknown): ConchError {
  return new ConchError('INTERNAL', `Model ${model} - Error when running inference: ${text}`, { cause })
}

function describeDecoupled(model: string): string {
  return (
    `Model ${model} is using the decoupled. The current BLS request call doesn't support models using the decoupled ` +
    `transaction policy. Please use 'decoupled=True' argument to the 'exec' or 'async_exec' calls for decoupled models.'`
  )
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function isEmpty(error: unknown): boolean {
  return error instanceof ConchError && error.message === 'expected a single response, got 0'
}
