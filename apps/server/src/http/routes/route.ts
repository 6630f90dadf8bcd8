import type { ApiGroup } from '../../settings.ts'
import type { Exchange } from '../exchange.ts'
import type { ContentType } from '../reply.ts'

export interface Route {
  readonly methods: readonly string[]
  /** Of `--http-restricted-api`. */
  readonly group: ApiGroup
  /** Content type of its errors (reference: http §3). */
  readonly errors: ContentType
  readonly answer: (exchange: Exchange) => void | Promise<void>
}
