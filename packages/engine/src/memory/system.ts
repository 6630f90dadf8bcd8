import { closeSync, constants, fstatSync, openSync } from 'node:fs'
import { ConchError } from '@conch/protocol'
import { koffi } from '../native/contract.ts'
import type { Region } from './region.ts'

const DIRECTORY = '/dev/shm/'
const RESERVED = 'triton_python_backend_shm_region_'
const [PROT_READ_WRITE, MAP_SHARED, MAP_FAILED] = [3, 1, 0xffff_ffff_ffff_ffffn]
/** mmap wants offsets that are multiples of this; the original refuses others, here the mapping begins earlier. */
const PAGE = 4_096

type Address = bigint
interface C {
  mmap(at: null, size: number, protection: number, flags: number, descriptor: number, offset: number): Address
  munmap(at: Address, size: number): number
}
let opened: C | undefined

function openC(): C {
  // Referenced for ever: koffi unloads a library that is collected, under its functions.
  if (opened === undefined) {
    const library = koffi.load(null)
    opened = {
      mmap: library.func('mmap', 'void *', [
        'void *',
        'size_t',
        'int',
        'int',
        'int',
        'int64_t',
      ]) as unknown as C['mmap'],
      munmap: library.func('munmap', 'int', ['void *', 'size_t']) as unknown as C['munmap'],
    }
  }
  return opened
}

/** Mappings end when the last view on them is gone: a request that is late still reads memory, never a hole. */
const forgotten = new FinalizationRegistry<{ address: Address; size: number }>(({ address, size }) => {
  openC().munmap(address, size)
})

interface Request {
  readonly key: string
  readonly offset: number
  readonly byteSize: number
}

/** Opens and maps a POSIX shared memory object (reference: front door §7.1). Throws the original's texts. */
export function openSystemRegion(name: string, request: Request): Region {
  const { key, offset, byteSize } = request
  const descriptor = openObject(checkKey(name, key), key)
  try {
    checkSize(name, descriptor, request)
    const view = map(name, descriptor, request)
    return new SystemRegion({ name, key, offset, byteSize }, descriptor, view)
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

function checkKey(name: string, key: string): string {
  const object = key.replace(/^\/+/, '')
  const refuse = (why: string): never => {
    throw new ConchError('INVALID_ARG', `cannot register shared memory region '${name}' - ${why}`)
  }
  if (object === '') refuse(`invalid shm key '${key}'`)
  if (object.startsWith(RESERVED)) {
    throw new ConchError(
      'INVALID_ARG',
      `cannot register shared memory region '${name}' with key '${key}' as the key contains the reserved prefix '${RESERVED}'`,
    )
  }
  // As shm_open: one name, nothing of a path.
  if (object.includes('/') || object.includes('\0') || object === '.' || object === '..') failOpen(key)
  return object
}

function openObject(object: string, key: string): number {
  try {
    return openSync(DIRECTORY + object, constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (cause) {
    return failOpen(key, cause)
  }
}

function failOpen(key: string, cause?: unknown): never {
  throw new ConchError('INTERNAL', `Unable to open shared memory region: '${key}'`, { cause })
}

function checkSize(name: string, descriptor: number, { offset, byteSize }: Request): void {
  const stat = fstatSync(descriptor)
  const fits = Number.isSafeInteger(offset) && Number.isSafeInteger(byteSize) && byteSize > 0
  if (fits && stat.isFile() && offset + byteSize <= stat.size) return
  const facts = stat.isFile() ? ` (the object has ${stat.size} bytes; asked for ${offset}+${byteSize})` : ''
  throw new ConchError('INVALID_ARG', `failed to register shared memory region '${name}': invalid args${facts}`)
}

function map(name: string, descriptor: number, { offset, byteSize }: Request): Uint8Array {
  const lead = offset % PAGE
  const size = byteSize + lead
  const address = openC().mmap(null, size, PROT_READ_WRITE, MAP_SHARED, descriptor, offset - lead)
  if (address === MAP_FAILED || address === null) {
    throw new ConchError(
      'INVALID_ARG',
      `failed to register shared memory region '${name}': unable to process address space`,
    )
  }
  const buffer = koffi.view(address, size)
  forgotten.register(buffer, { address, size })
  return new Uint8Array(buffer, lead, byteSize)
}

class SystemRegion implements Region {
  readonly kind = 'system'
  readonly deviceId = 0
  readonly name: string
  readonly key: string
  readonly offset: number
  readonly byteSize: number
  readonly #descriptor: number
  readonly #view: Uint8Array
  #closed = false

  constructor(
    parts: { name: string; key: string; offset: number; byteSize: number },
    descriptor: number,
    view: Uint8Array,
  ) {
    this.name = parts.name
    this.key = parts.key
    this.offset = parts.offset
    this.byteSize = parts.byteSize
    this.#descriptor = descriptor
    this.#view = view
  }

  read(offset: number, size: number): Uint8Array {
    this.#checkPresent()
    return this.#view.subarray(offset, offset + size)
  }

  write(offset: number, bytes: Uint8Array): void {
    this.#checkPresent()
    this.#view.set(bytes, offset)
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    closeSync(this.#descriptor)
  }

  /** Touching what a client has cut off would end the process, so its size is looked at before every use. */
  #checkPresent(): void {
    const size = this.#closed ? 0 : fstatSync(this.#descriptor).size
    if (size >= this.offset + this.byteSize) return
    throw new ConchError(
      'INVALID_ARG',
      `shared memory region '${this.name}' has become smaller: its object '${this.key}' has ${size} bytes, registered were ${this.offset}+${this.byteSize}`,
    )
  }
}
