import type { ApiGroup } from '../../settings.ts'
import type { ContentType } from '../content-type.ts'

/** `E` is the exchange that it answers. */
export interface Route<E> {
  readonly methods: readonly string[]
  /** Of `--http-restricted-api`. */
  readonly group: ApiGroup
  /** Content type of its errors (reference: http §3). */
  readonly errors: ContentType
  readonly answer: (exchange: E) => void | Promise<void>
}

/** Which URLs a listener answers, and how a platform differs from KServe. */
export interface Door<E> {
  readonly find: (exchange: E) => Route<E> | undefined
  /** For a path that there is not; without a text when it is empty. */
  readonly unknown: { readonly status: 400 | 404; readonly text: string }
  /** Where the size of the JSON part travels in the content type: everything before the number. */
  readonly binaryType?: string
  /** HTTP status of an error that a model answered with. */
  readonly modelErrorStatus?: (message: string) => number
}
