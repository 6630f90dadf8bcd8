import { chmodSync, lstatSync, unlinkSync } from 'node:fs'
import { connect, type AddressInfo, type ListenOptions, type Server } from 'node:net'
import { ConchError } from '@conch/protocol'

export interface ListenAt {
  /** A host, or `unix:<path>` (superset). */
  readonly address: string
  readonly port: number
  readonly reusePort?: boolean
}

/** Owner and group may connect. */
const SOCKET_MODE = 0o660
/** `sun_path` holds 108 bytes with the 0 at the end; a longer path would be cut off without a word. */
const LONGEST_PATH = 107

/** The path of `unix:/path`, `unix:///path` or `unix:path`; undefined = a host. */
export function parseUnixPath(address: string): string | undefined {
  if (!address.startsWith('unix:')) return undefined
  return address.slice(5).replace(/^\/\/(?=\/)/, '')
}

/** Listens on a host or a unix socket and says where, as `host:port` or `unix:<path>`. Rejects when the address cannot be had. */
export async function listen(server: Server, at: ListenAt): Promise<string> {
  const path = parseUnixPath(at.address)
  if (path !== undefined) {
    await makeRoom(path)
    await open(server, { path, backlog: 1024 })
    chmodSync(path, SOCKET_MODE)
    return `unix:${path}`
  }
  await open(server, { host: at.address, port: at.port, backlog: 1024, reusePort: at.reusePort === true })
  return `${at.address}:${(server.address() as AddressInfo).port}`
}

function open(server: Server, options: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(options, () => {
      server.off('error', reject)
      // Errors of accept() (no file descriptor left, for instance) must not end the server.
      server.on('error', () => undefined)
      resolve()
    })
  })
}

/** Takes away a socket that a server left behind when it died. Anything else in the way stays, and is told. */
async function makeRoom(path: string): Promise<void> {
  if (path === '' || path.includes('\0') || Buffer.byteLength(path) > LONGEST_PATH) {
    const text = `'unix:${path}' is no address: the path of a socket has 1 to ${LONGEST_PATH} bytes`
    throw new ConchError('INVALID_ARG', text)
  }
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return
  if (!found.isSocket()) throw new ConchError('INVALID_ARG', `'${path}' is there already and is no socket`)
  if (await isServed(path)) throw Object.assign(new Error(`'${path}' is in use`), { code: 'EADDRINUSE' })
  unlinkSync(path)
}

function isServed(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    const end = (served: boolean) => {
      socket.destroy()
      resolve(served)
    }
    socket.once('connect', () => end(true))
    // Only a refusal says that nobody listens; a server with a full backlog or another owner is one too.
    socket.once('error', (error: NodeJS.ErrnoException) => end(error.code !== 'ECONNREFUSED'))
  })
}
