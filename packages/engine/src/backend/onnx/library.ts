import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { ConchError } from '@conch/protocol'
import { koffi } from '../../native/contract.ts'
import { API_TABLE, API_VERSION } from './api-table.ts'
import type { ApiName } from './api-table.ts'
import { offerTrim } from './trim.ts'

/** An address in this process. Never shown, never computed with, only handed back to the library that gave it. */
export type Pointer = bigint
/** What may stand for a pointer argument: an address, memory of ours (its address is passed), or null. */
export type PointerArgument = Pointer | ArrayBufferView | null
/** Null when the call succeeded, else an OrtStatus that must be released. */
export type Status = Pointer | null

interface Native {
  readonly status: Status
  readonly void: undefined
  readonly int: number
  readonly bool: boolean
  readonly 'const char *': string
  readonly '*': PointerArgument
  readonly size_t: number
}
type NativeArguments<A> = { -readonly [I in keyof A]: A[I] extends keyof Native ? Native[A[I]] : never }
interface NativeCall<A extends unknown[], R> {
  (...args: A): R
  /** Runs on the libuv pool. Everything that the arguments point to must stay alive and unchanged until `done`. */
  async(...args: [...A, done: (error: Error | null, result: R) => void]): void
}
type CallOf<Row> = Row extends readonly [number, infer R extends keyof Native, ...infer A]
  ? NativeCall<NativeArguments<A>, Native[R]>
  : never
/** The C API as functions; see API_TABLE. */
export type Api = { readonly [N in ApiName]: CallOf<(typeof API_TABLE)[N]> }

const FILES: Partial<Record<NodeJS.Platform, string>> = {
  linux: 'libonnxruntime.so.1',
  darwin: 'libonnxruntime.1.dylib',
  win32: 'onnxruntime.dll',
}

export interface Library {
  readonly api: Api
  readonly version: string
  /** Where it was found, with a separator at the end. */
  readonly directory: string
  /** Referenced for as long as its functions are: koffi unloads a library that is collected. */
  readonly handle: object
  /** Copies from native memory. The caller has checked the size against both sides. */
  copy(target: Uint8Array, source: Pointer, size: number): void
  /** Copies into native memory. The caller has checked the size against both sides. */
  fill(target: Pointer, source: Uint8Array): void
  /** Gives memory that was freed back to the system, on another thread: what a model leaves behind is in many small pieces. */
  trim(): void
}

let opened: Library | undefined

/** Loads the ONNX Runtime library that onnxruntime-node ships; its JavaScript is never run. */
export function openLibrary(): Library {
  if (opened === undefined) {
    const library = bind(locateLibrary())
    offerTrim(() => library.trim())
    opened = library
  }
  return opened
}

/** As `openLibrary`, with the work of the dynamic linker, tens of milliseconds, on another thread where that can be had. */
export async function openLibraryLater(): Promise<Library> {
  if (opened === undefined) await linkElsewhere(locateLibrary())
  return openLibrary()
}

function linkElsewhere(path: string): Promise<void> {
  const dlopen = findFunction('dlopen', 'void *', ['const char *', 'int'])
  const lazy = 1
  // What goes wrong here goes wrong again, with a message, when the library is opened.
  return new Promise((resolve) => {
    if (dlopen === undefined) resolve()
    else dlopen.async(path, lazy, () => resolve())
  })
}

/** A function of the C library; undefined where it has none of that name. */
function findFunction(name: string, result: string, parameters: readonly string[]) {
  try {
    return koffi.load(null).func(name, result, [...parameters])
  } catch {
    return undefined
  }
}

function locateLibrary(): string {
  const file = FILES[process.platform]
  const manifest = createRequire(import.meta.url).resolve('onnxruntime-node/package.json')
  if (file === undefined) throw new ConchError('UNSUPPORTED', `ONNX Runtime is not available on ${process.platform}`)
  return join(dirname(manifest), 'bin', 'napi-v6', process.platform, process.arch, file)
}

function bind(path: string): Library {
  const library = koffi.load(path)
  const base = library.func('OrtGetApiBase', 'void *', [])() as Pointer
  const [getApi, getVersion] = [readPointer(base, 0), readPointer(base, 1)]
  const version = koffi.call(getVersion, koffi.proto('const char *', [])) as string
  const table = koffi.call(getApi, koffi.proto('void *', ['uint32_t']), API_VERSION) as Pointer | null
  if (table === null) {
    throw new ConchError(
      'UNSUPPORTED',
      `ONNX Runtime ${version} does not offer version ${API_VERSION} of its interface`,
    )
  }
  const trim = findFunction('malloc_trim', 'int', ['size_t'])
  const copy = koffi.load(null).func('memcpy', 'void *', ['void *', 'void *', 'size_t'])
  return {
    api: bindTable(table),
    version,
    directory: join(dirname(path), '/'),
    handle: library,
    copy: (target, source, size) => void copy(target, source, size),
    fill: (target, source) => void copy(target, source, source.byteLength),
    trim: () => void trim?.async(0, () => undefined),
  }
}

function bindTable(table: Pointer): Api {
  const nativeType = (type: string) => (type === '*' || type === 'status' ? 'void *' : type)
  const entries = Object.entries(API_TABLE).map(([name, [index, result, ...parameters]]) => {
    const prototype = koffi.proto(nativeType(result), parameters.map(nativeType))
    return [name, koffi.decode(readPointer(table, index), prototype) as unknown]
  })
  return Object.fromEntries(entries) as Api
}

function readPointer(at: Pointer, index: number): Pointer {
  return koffi.decode(at, index * 8, 'void *') as Pointer
}

/** The address of memory of ours. It must be backed by an ArrayBuffer and outlive every use of the address. */
export function addressOf(memory: ArrayBufferView): Pointer {
  return koffi.address(memory)
}

/** Reads a C string. */
export function readText(at: Pointer): string {
  return koffi.decode.string(at)
}
