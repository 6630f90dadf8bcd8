import type { Engine } from '@conch/engine'
import type { Budgets } from '../budgets.ts'
import type { HeaderMatch } from '../header-forwarding.ts'
import type { ServerLog } from '../log.ts'
import type { GrpcOptions } from '../grpc-options.ts'
import type { AccessLog } from '../tracing/access-log.ts'
import type { Tracer } from '../tracing/tracer.ts'

/** What every call of the port works with. */
export interface Face extends Budgets {
  readonly engine: Engine
  readonly log: ServerLog
  readonly options: GrpcOptions
  /** `name` of the server metadata. */
  readonly id: string
  readonly allowClientShm: boolean
  readonly trace: Tracer
  /** Undefined = no line per inference. */
  readonly access: AccessLog | undefined
  readonly forward: HeaderMatch | undefined
  readonly limits: {
    /** Bytes of one message as it came, and of one that was decompressed. */
    readonly message: number
    readonly inflated: number
    /** Requests of one stream that are not answered yet. */
    readonly streamRequests: number
    /** Bytes of answers that a stream's client has not taken; beyond it the stream ends. */
    readonly streamBacklog: number
  }
  draining: boolean
}
