import { readFileSync } from 'node:fs'
import type { TlsOptions } from 'node:tls'
import { UsageError } from './command-line.ts'
import type { Values } from './option-values.ts'
import { ConchError } from '@conch/protocol'

/** What a port needs to speak TLS: paths of PEM files. */
export interface TlsFiles {
  /** `http` or `grpc`, as in the names of the flags. */
  readonly service: string
  readonly cert: string
  readonly key: string
  /** '' = none; whom client certificates must come from. */
  readonly root: string
  /** Clients must show a certificate. */
  readonly mutual: boolean
}

/** `--<service>-use-ssl` and the flags around it; undefined = plain. */
export function parseTls(values: Values, service: 'http' | 'grpc'): TlsFiles | undefined {
  const file = (name: string) => values.text(`${service}-${name}`, '')
  // Naming the mutual flag switches TLS on, whatever it says (reference: cli §2).
  const asked = values.has(`${service}-use-ssl-mutual`) || values.bool(`${service}-use-ssl`, false)
  if (!asked) return undefined
  const mutual = values.bool(`${service}-use-ssl-mutual`, false)
  const files = { service, cert: file('server-cert'), key: file('server-key'), root: file('root-cert'), mutual }
  const missing = [
    ...(files.cert === '' ? [`--${service}-server-cert`] : []),
    ...(files.key === '' ? [`--${service}-server-key`] : []),
    ...(mutual && files.root === '' ? [`--${service}-root-cert`] : []),
  ]
  if (missing.length === 0) return files
  throw new UsageError('', `TLS for ${service} needs ${missing.join(' and ')}`)
}

/** Reads the files. Throws with the flag's name where one cannot be read or is none. */
export function readTls({ service, cert, key, root, mutual }: TlsFiles): TlsOptions {
  return {
    cert: read(`${service}-server-cert`, cert),
    key: read(`${service}-server-key`, key),
    ...(root === '' ? {} : { ca: read(`${service}-root-cert`, root) }),
    requestCert: mutual,
    rejectUnauthorized: mutual,
    minVersion: 'TLSv1.2',
    handshakeTimeout: HANDSHAKE_TIMEOUT,
  }
}

/** Milliseconds; a connection that says nothing costs a socket. */
const HANDSHAKE_TIMEOUT = 10_000

function read(flag: string, path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (cause) {
    const why = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause)
    throw new ConchError('INVALID_ARG', `--${flag}=${path} cannot be read (${why})`, { cause })
  }
}
