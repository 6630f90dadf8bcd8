import { ConchError } from '@conch/protocol'
import { koffi } from '../native/contract.ts'
import type { Region } from './region.ts'

const LIBRARIES = ['libcudart.so.13', 'libcudart.so.12', 'libcudart.so.11.0', 'libcudart.so']
const [LAZY_PEER_ACCESS, TO_DEVICE, TO_HOST] = [1, 1, 2]

/** The calls of the CUDA runtime that regions need; each returns 0 or an error's number. */
export interface CudaRuntime {
  setDevice(device: number): number
  openHandle(pointer: [bigint | null], handle: { reserved: number[] }, flags: number): number
  closeHandle(pointer: bigint): number
  copy(to: bigint | Uint8Array, from: bigint | Uint8Array, size: number, kind: number): number
}

let opened: CudaRuntime | undefined

/** Undefined where there is no CUDA runtime. */
function openRuntime(): CudaRuntime | undefined {
  opened ??= LIBRARIES.map(bind).find((runtime) => runtime !== undefined)
  return opened
}

function bind(path: string): CudaRuntime | undefined {
  let library: ReturnType<typeof koffi.load>
  try {
    library = koffi.load(path)
  } catch {
    return undefined
  }
  const handle = koffi.struct('cudaIpcMemHandle_t', { reserved: koffi.array('uint8_t', 64) })
  const find = (name: string, parameters: readonly (string | typeof handle)[]) =>
    library.func(name, 'int', [...parameters]) as unknown
  return {
    setDevice: find('cudaSetDevice', ['int']) as CudaRuntime['setDevice'],
    openHandle: find('cudaIpcOpenMemHandle', ['_Out_ void **', handle, 'uint']) as CudaRuntime['openHandle'],
    closeHandle: find('cudaIpcCloseMemHandle', ['void *']) as CudaRuntime['closeHandle'],
    copy: find('cudaMemcpy', ['void *', 'void *', 'size_t', 'int']) as CudaRuntime['copy'],
  }
}

interface Request {
  readonly handle: Uint8Array
  readonly deviceId: number
  readonly byteSize: number
}

/** Opens memory of another process on a GPU (reference: front door §7.4). `runtime` is for tests. */
export function openCudaRegion(name: string, request: Request, runtime = openRuntime()): Region {
  if (runtime === undefined) {
    throw new ConchError('INVALID_ARG', `failed to register CUDA shared memory region: '${name}', GPUs not supported`)
  }
  const { handle, deviceId, byteSize } = request
  const pointer: [bigint | null] = [null]
  const fits = handle.length === 64 && Number.isSafeInteger(byteSize) && byteSize > 0
  const opens = fits && runtime.setDevice(deviceId) === 0
  if (!opens || runtime.openHandle(pointer, { reserved: [...handle] }, LAZY_PEER_ACCESS) !== 0 || pointer[0] === null) {
    throw new ConchError('INVALID_ARG', `failed to register shared memory region '${name}': invalid args`)
  }
  return new CudaRegion({ name, deviceId, byteSize }, pointer[0], runtime)
}

class CudaRegion implements Region {
  readonly kind = 'cuda'
  readonly key = ''
  readonly offset = 0
  readonly name: string
  readonly deviceId: number
  readonly byteSize: number
  readonly #address: bigint
  readonly #runtime: CudaRuntime
  #closed = false

  constructor(parts: { name: string; deviceId: number; byteSize: number }, address: bigint, runtime: CudaRuntime) {
    this.name = parts.name
    this.deviceId = parts.deviceId
    this.byteSize = parts.byteSize
    this.#address = address
    this.#runtime = runtime
  }

  read(offset: number, size: number): Uint8Array {
    const bytes = new Uint8Array(size)
    this.#check(this.#runtime.copy(bytes, this.#address + BigInt(offset), size, TO_HOST))
    return bytes
  }

  write(offset: number, bytes: Uint8Array): void {
    this.#check(this.#runtime.copy(this.#address + BigInt(offset), bytes, bytes.length, TO_DEVICE))
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#runtime.closeHandle(this.#address)
  }

  #check(code: number): void {
    if (code === 0) return
    throw new ConchError('INTERNAL', `CUDA error ${code} while copying shared memory region '${this.name}'`)
  }
}
