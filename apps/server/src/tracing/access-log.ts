import type { InferRequest } from '@conch/protocol'
import type { Log, Timings } from '@conch/engine'

export interface Access {
  readonly protocol: 'http' | 'grpc'
  /** Undefined = it did not become a request. */
  readonly request: InferRequest | undefined
  /** What was asked for, as far as it is known by then. */
  readonly target: { readonly model: string; readonly version: string }
  readonly timings: Timings | undefined
  /** Bytes of both bodies. */
  readonly received: number
  readonly bytes: number
  readonly status: number
  /** From its first byte to its last. */
  readonly milliseconds: number
}

/** One line per inference (superset): who asked for what, how much travelled, how long it took. */
export class AccessLog {
  readonly #format: 'text' | 'json'
  readonly #log: Pick<Log, 'write'> & { raw(line: string): void }

  constructor(format: 'text' | 'json', log: Pick<Log, 'write'> & { raw(line: string): void }) {
    this.#format = format
    this.#log = log
  }

  write(access: Access): void {
    const fields = describe(access)
    if (this.#format === 'json') this.#log.raw(JSON.stringify({ time: new Date().toISOString(), ...fields }))
    else this.#log.write('info', printText(fields))
  }
}

function describe(access: Access) {
  const { protocol, timings, received, bytes, status, milliseconds } = access
  return {
    protocol,
    ...name(access),
    status,
    request_bytes: received,
    response_bytes: bytes,
    queue_us: span(timings?.queued, timings?.computeStart),
    compute_us: span(timings?.computeStart, timings?.computeEnd),
    total_us: Math.round(milliseconds * 1e3),
  }
}

/** Version: as it was asked for, '' = the server's choice. */
function name({ request, target }: Access): Readonly<Record<string, string>> {
  const { model, version } = request ?? target
  const sequence = String(request?.sequenceId ?? '')
  const ids = { model, version, id: request?.id ?? '' }
  return sequence === '' || sequence === '0' ? ids : { ...ids, sequence }
}

/** Whole microseconds between two stamps; 0 when it did not come to both. */
function span(from: number | undefined, to: number | undefined): number {
  return from === undefined || to === undefined || from === 0 || to === 0 ? 0 : Math.round((to - from) * 1e3)
}

/** `access protocol=http model=simple …`; a value with a blank or a quote in it is a JSON text. */
function printText(fields: Readonly<Record<string, string | number>>): string {
  const parts = Object.entries(fields).map(
    ([key, value]) => `${key}=${typeof value === 'string' ? quote(value) : value}`,
  )
  return `access ${parts.join(' ')}`
}

function quote(value: string): string {
  return /^[\w.:/-]*$/.test(value) ? value : JSON.stringify(value)
}
