import type { Engine, Log } from '@conch/engine'
import type { NewLine } from './log-tail.ts'

export interface AdminOptions {
  readonly engine: Engine
  /** A log that also tells its lines is followed by the console. */
  readonly log: Log & Partial<LogSource>
  readonly dataDirectory: string
  readonly address: string
  /** 0 = any free one. */
  readonly port: number
  readonly serve: ServeFacts
  /** `host:port` of the inference and metrics faces; '' when one is off. */
  readonly addresses: { readonly http: string; readonly metrics: string; readonly grpc?: string }
  /** Host names of a reverse proxy in front; `*` = any. */
  readonly allowedHosts?: readonly string[]
  readonly allowedOrigins?: readonly string[]
  /** The console's static export; found beside this app when left out. */
  readonly consoleDirectory?: string
  /** Bytes of one uploaded file. */
  readonly maxUploadBytes?: number
}
/** As the engine's `ServerLog` has it. */
export interface LogSource {
  tail(count: number): readonly NewLine[]
  subscribe(listener: (line: NewLine) => void): () => void
}
/** What the console shows of how the server was started. */
export interface ServeFacts {
  readonly repositories: readonly string[]
  readonly controlMode: 'none' | 'poll' | 'explicit'
  readonly pollSeconds?: number
  /** `--model-config-name`: configs/<name>.pbtxt wins over config.pbtxt. */
  readonly modelConfigName?: string
  /** `--backend-config`: backend ('' = global) → setting → value. */
  readonly backendConfig?: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** `--id`. */
  readonly id?: string
}
