import { ConchError } from '@conch/protocol'
import { openLibrary, openLibraryLater } from './library.ts'
import type { Api, Library, Pointer, Status } from './library.ts'
import { readBoolean, readInteger } from './parameter.ts'

/** ONNX Runtime's log levels. */
export const ORT_LOG = { verbose: 0, info: 1, warning: 2, error: 3, fatal: 4 } as const

/** The process-wide part of ONNX Runtime, created once and never released. */
export interface Env {
  readonly library: Library
  readonly api: Api
  readonly handle: Pointer
  /** Describes plain CPU memory. */
  readonly cpuMemory: Pointer
  readonly allocator: Pointer
  /** Sessions share the process's thread pools; thread settings of models are ignored. */
  readonly sharesThreads: boolean
}

let opened: Promise<Env> | undefined

/** The backend settings of the first caller decide; they are the same for every model of a process. */
export function openEnv(settings: Readonly<Record<string, string>>): Promise<Env> {
  opened ??= createEnv(settings).catch((error: unknown) => {
    opened = undefined
    throw error
  })
  return opened
}

async function createEnv(settings: Readonly<Record<string, string>>): Promise<Env> {
  const shared = settings['enable-global-threadpool']
  const sharesThreads = shared !== undefined && readBoolean(shared)
  const library = await openLibraryLater()
  const { api } = library
  // Registers every operator that there is: tens of milliseconds, elsewhere.
  const handle = sharesThreads
    ? await createSharedEnv(api, settings)
    : await receiveLater((out, done) => api.CreateEnv.async(ORT_LOG.error, 'conch', out, done))
  const arena = 0
  const anyMemory = 0
  return {
    library,
    api,
    handle,
    cpuMemory: receive((out) => api.CreateCpuMemoryInfo(arena, anyMemory, out)),
    allocator: receive((out) => api.GetAllocatorWithDefaultOptions(out)),
    sharesThreads,
  }
}

async function createSharedEnv(api: Api, settings: Readonly<Record<string, string>>): Promise<Pointer> {
  const options = receive((out) => api.CreateThreadingOptions(out))
  try {
    checkStatus(api.SetGlobalIntraOpNumThreads(options, readInteger(settings['intra_op_thread_count'] ?? '0')))
    checkStatus(api.SetGlobalInterOpNumThreads(options, readInteger(settings['inter_op_thread_count'] ?? '0')))
    checkStatus(api.SetGlobalSpinControl(options, 0))
    return await receiveLater((out, done) =>
      api.CreateEnvWithGlobalThreadPools.async(ORT_LOG.error, 'conch', options, out, done),
    )
  } finally {
    api.ReleaseThreadingOptions(options)
  }
}

const slot = new BigUint64Array(new ArrayBuffer(8))

/** The pointer that a call writes to its last argument. Not for asynchronous calls: they need a place of their own. */
export function receive(call: (out: BigUint64Array) => Status): Pointer {
  slot[0] = 0n
  checkStatus(call(slot))
  return slot[0]
}

/** As `receive`, for a call on another thread. */
export function receiveLater(
  call: (out: BigUint64Array, done: (error: Error | null, status: Status) => void) => void,
): Promise<Pointer> {
  const out = new BigUint64Array(new ArrayBuffer(8))
  return new Promise((resolve, reject) => {
    call(out, (error, status) => {
      if (error !== null) reject(error)
      else if (status !== null) reject(takeError(status))
      else resolve(out[0] ?? 0n)
    })
  })
}

/** As `receive`, for numbers of 64 bits that fit a double. */
export function receiveSize(call: (out: BigUint64Array) => Status): number {
  return Number(receive(call))
}

/** Throws what a failed call says, in the original's words. */
export function checkStatus(status: Status): void {
  if (status !== null) throw takeError(status)
}

/** Reads and releases the status of a failed call. */
export function takeError(status: Pointer): ConchError {
  const { api } = openLibrary()
  const text = `onnx runtime error ${api.GetErrorCode(status)}: ${api.GetErrorMessage(status)}`
  api.ReleaseStatus(status)
  return new ConchError('INTERNAL', text)
}
