import { ConchError } from '@conch/protocol'
import { koffi } from '../../native/contract.ts'

/** An address in this process; computed with only inside a mapping whose size is known. */
export type Address = bigint

/** The functions of the C library that Node does not offer. Linux only. */
export interface CLibrary {
  memfdCreate(name: string, flags: number): number
  mmap(at: null, size: number, protection: number, flags: number, descriptor: number, offset: number): Address
  munmap(at: Address, size: number): number
  fcntl(descriptor: number, command: number, argument: number): number
  fallocate(descriptor: number, mode: number, offset: number, size: number): number
  socketpair(domain: number, type: number, protocol: number, pair: Int32Array): number
  send(descriptor: number, bytes: Uint8Array, size: number, flags: number): number
  copyIn: Copy<Address, Uint8Array>
  copyOut: Copy<Uint8Array, Address>
  /** What the last failed call complains about, as text. */
  complaint(): string
}
interface Copy<To, From> {
  (to: To, from: From, size: number): unknown
  /** On another thread. Both sides must stay where they are until `done`. */
  async(to: To, from: From, size: number, done: (error: Error | null) => void): void
}

let opened: CLibrary | undefined

/** Throws where there are no memory files to be had. */
export function openCLibrary(): CLibrary {
  opened ??= bind()
  return opened
}

function bind(): CLibrary {
  if (process.platform !== 'linux') {
    throw new ConchError('UNSUPPORTED', `Python models need Linux (memory files); this is ${process.platform}`)
  }
  // Referenced for ever: koffi unloads a library that is collected, under its functions.
  const library = koffi.load(null)
  const find = (name: string, result: string, parameters: readonly string[]) =>
    library.func(name, result, [...parameters]) as unknown
  const bytes = 'void *'
  return {
    memfdCreate: find('memfd_create', 'int', ['const char *', 'uint32_t']) as CLibrary['memfdCreate'],
    mmap: find('mmap', bytes, [bytes, 'size_t', 'int', 'int', 'int', 'int64_t']) as CLibrary['mmap'],
    munmap: find('munmap', 'int', [bytes, 'size_t']) as CLibrary['munmap'],
    fcntl: find('fcntl', 'int', ['int', 'int', 'int']) as CLibrary['fcntl'],
    fallocate: find('fallocate', 'int', ['int', 'int', 'int64_t', 'int64_t']) as CLibrary['fallocate'],
    socketpair: find('socketpair', 'int', ['int', 'int', 'int', bytes]) as CLibrary['socketpair'],
    send: find('send', 'intptr_t', ['int', bytes, 'size_t', 'int']) as CLibrary['send'],
    copyIn: find('memcpy', bytes, [bytes, bytes, 'size_t']) as CLibrary['copyIn'],
    copyOut: find('memcpy', bytes, [bytes, bytes, 'size_t']) as CLibrary['copyOut'],
    complaint: () => describeErrno(koffi.errno()),
  }
}

function describeErrno(errno: number): string {
  const known = Object.entries(koffi.os.errno).find(([, number]) => number === errno)
  return known === undefined ? `error ${errno}` : known[0]
}
