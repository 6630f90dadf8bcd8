import { ConchError } from '@conch/protocol'
import type { InferRequest, InferResponse, RegionRange, RequestInput, Tensor } from '@conch/protocol'
import type { ClientMemory, Lease, RegionKind, RegionStatus } from './contract.ts'
import { openCudaRegion } from './cuda.ts'
import type { Region } from './region.ts'
import { openSystemRegion } from './system.ts'

/** Regions that can be registered at once; each holds a descriptor. */
const MOST = 4_096
const EMPTY = new Uint8Array(0)

/** A region, and how many requests use it. */
interface Held {
  readonly region: Region
  users: number
  gone: boolean
}

/** All regions, of both kinds under one set of names. */
export class Regions implements ClientMemory {
  readonly #regions = new Map<string, Held>()
  readonly #open: { system: typeof openSystemRegion; cuda: typeof openCudaRegion }

  constructor(open = { system: openSystemRegion, cuda: openCudaRegion }) {
    this.#open = open
  }

  registerSystem(name: string, object: { key: string; offset: number; byteSize: number }): void {
    this.#add(name, () => this.#open.system(name, object))
  }

  registerCuda(name: string, memory: { handle: Uint8Array; deviceId: number; byteSize: number }): void {
    this.#add(name, () => this.#open.cuda(name, memory))
  }

  #add(name: string, open: () => Region): void {
    if (this.#regions.has(name)) {
      throw new ConchError('ALREADY_EXISTS', `shared memory region '${name}' already in manager`)
    }
    if (this.#regions.size >= MOST) {
      throw new ConchError('UNAVAILABLE', `${MOST} shared memory regions are registered; unregister some`)
    }
    this.#regions.set(name, { region: open(), users: 0, gone: false })
  }

  unregister(kind: RegionKind, name: string): void {
    const named = this.#regions.get(name)
    const held = name === '' ? [...this.#regions.values()] : named === undefined ? [] : [named]
    for (const one of held) {
      if (one.region.kind !== kind) continue
      this.#regions.delete(one.region.name)
      one.gone = true
      if (one.users === 0) one.region.close()
    }
  }

  status(kind: RegionKind, name: string): readonly RegionStatus[] {
    if (name === '') return [...this.#regions.values()].map(({ region }) => region).filter((one) => one.kind === kind)
    const region = this.#regions.get(name)?.region
    if (region === undefined)
      throw new ConchError('NOT_FOUND', `Unable to find ${kind} shared memory region: '${name}'`)
    if (region.kind !== kind) {
      const [is, wanted] = kind === 'system' ? ['CUDA', 'system'] : ['system', 'CUDA']
      const text = `The region named '${name}' is registered as ${is} shared memory, not ${wanted} shared memory`
      throw new ConchError('NOT_FOUND', text)
    }
    return [region]
  }

  lend(request: InferRequest): Lease | undefined {
    if (!usesRegions(request)) return undefined
    const lease = new RequestLease(request)
    try {
      request.inputs = request.inputs.map((input) => this.#fill(input, lease))
      for (const { name, region } of request.outputs) {
        if (region !== undefined) lease.promise(name, this.#take(region, lease), region)
      }
    } catch (error) {
      lease.end()
      throw error
    }
    return lease
  }

  #fill(input: RequestInput, lease: RequestLease): RequestInput {
    const { region: range } = input
    if (range === undefined) return input
    const held = this.#take(range, lease)
    return { ...input, data: held.region.read(range.offset, range.byteSize) }
  }

  #take({ name, offset, byteSize }: RegionRange, lease: RequestLease): Held {
    const held = this.#regions.get(name)
    if (held === undefined) throw new ConchError('NOT_FOUND', `Unable to find shared memory region: '${name}'`)
    const { region } = held
    if (byteSize === 0 || !Number.isSafeInteger(offset) || offset + byteSize > region.byteSize) {
      const facts = ` (${offset}+${byteSize} of ${region.byteSize} bytes)`
      throw new ConchError('INVALID_ARG', `Invalid offset + byte size for shared memory region: '${name}'${facts}`)
    }
    lease.hold(held)
    return held
  }
}

function usesRegions({ inputs, outputs }: InferRequest): boolean {
  for (let i = 0; i < inputs.length; i += 1) if (inputs[i]?.region !== undefined) return true
  for (let i = 0; i < outputs.length; i += 1) if (outputs[i]?.region !== undefined) return true
  return false
}

class RequestLease implements Lease {
  readonly #held = new Set<Held>()
  readonly #targets = new Map<string, { region: Region; range: RegionRange }>()
  readonly #request: InferRequest

  constructor(request: InferRequest) {
    this.#request = request
  }

  hold(held: Held): void {
    if (this.#held.has(held)) return
    held.users += 1
    this.#held.add(held)
  }

  promise(output: string, { region }: Held, range: RegionRange): void {
    this.#targets.set(output, { region, range })
  }

  deliver(response: InferResponse): InferResponse {
    if (this.#targets.size === 0) return response
    return { ...response, outputs: response.outputs.map((output) => this.#write(output)) }
  }

  #write(output: Tensor): Tensor {
    const target = this.#targets.get(output.name)
    if (target === undefined) return output
    const { region, range } = target
    const { length } = output.data
    if (length > range.byteSize) {
      throw new ConchError(
        'INTERNAL',
        `shared memory size specified with the request for output '${output.name}' (${range.byteSize} bytes) should be at least ${length} bytes to hold the results`,
      )
    }
    region.write(range.offset, output.data)
    return { ...output, data: EMPTY }
  }

  end(): void {
    for (const held of this.#held) {
      held.users -= 1
      if (held.gone && held.users === 0) held.region.close()
    }
    this.#held.clear()
    // Views on regions do not outlive the lease in anybody's hands.
    this.#request.inputs = this.#request.inputs.map((input) =>
      input.region === undefined ? input : { ...input, data: EMPTY },
    )
  }
}
