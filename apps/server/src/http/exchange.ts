import type { ServerResponse } from 'node:http'
import type { Engine } from '@conch/engine'
import type { ConchError } from '@conch/protocol'
import type { ServerLog } from '../log.ts'
import type { HttpOptions } from '../options.ts'
import type { Budgets } from '../budgets.ts'
import type { Connection } from './connection.ts'
import type { HeaderMatch } from '../header-forwarding.ts'
import { findHeader } from './headers.ts'
import type { RequestHeaders } from './headers.ts'
import type { JsonWorkers } from './json-workers.ts'
import type { Message } from './message.ts'
import { Rest } from './rest.ts'
import type { Door } from './routes/route.ts'
import type { AccessLog } from '../tracing/access-log.ts'
import type { Tracer } from '../tracing/tracer.ts'

/** What the routes stand on; one per listener. */
export interface Face extends Budgets {
  readonly engine: Engine
  readonly log: ServerLog
  readonly options: HttpOptions
  /** `/v2` as it is sent; it never changes. */
  readonly metadata: Buffer
  readonly allowClientShm: boolean
  /** Headers that become parameters; undefined = none. */
  readonly forward: HeaderMatch | undefined
  readonly workers: JsonWorkers
  readonly trace: Tracer
  /** Undefined = no line per inference. */
  readonly access: AccessLog | undefined
  readonly door: Door<Exchange>
  /** True once the listener drains: answers end their connection. */
  draining: boolean
}

/** One request and its answer. All fields exist from birth: it is the hot path's record. */
export class Exchange {
  readonly face: Face
  readonly req: Message
  readonly res: ServerResponse
  readonly connection: Connection
  /** As it came, without the query; a redirect puts another one here. */
  path: string
  readonly headers: RequestHeaders
  /** The client waits for `100 Continue` before it sends its body. */
  expectsContinue: boolean
  /** Named by the path; empty where the route has none. `version` is decimal text. */
  model = ''
  version = ''
  /** Further named parts of the path: repository or region. */
  scope = ''
  answered = false
  /** Of the answer's body, as far as it is known. */
  sentBytes = 0
  /** Bytes of `face.bodies` that its body takes. */
  #held = 0

  constructor(
    face: Face,
    connection: Connection,
    incoming: { req: Message; res: ServerResponse; path: string; expectsContinue: boolean },
  ) {
    this.face = face
    this.connection = connection
    this.req = incoming.req
    this.res = incoming.res
    this.path = incoming.path
    this.expectsContinue = incoming.expectsContinue
    this.headers = incoming.req.headers
    connection.begin()
  }

  /** Counts bytes of its body; an error when there is no room for them. */
  hold(bytes: number): ConchError | undefined {
    const { bodies } = this.face
    if (!bodies.take(bytes)) return bodies.refuse()
    this.#held += bytes
    return undefined
  }

  header(name: string): string | undefined {
    return findHeader(this.req.rawHeaders, name)
  }

  /** Nobody works on it any more. */
  close(): void {
    this.face.bodies.giveBack(this.#held)
    this.#held = 0
  }

  /** Its answer begins now; there is no other. */
  markAnswered(): void {
    this.answered = true
    if (!this.req.complete) this.req.sink = new Rest(this.req.socket)
    this.connection.end(this.res.socket === null)
  }
}
