import type { ModelConfig } from '@conch/protocol'

/** Whose environment, and where it may come from. */
export interface EnvironmentRequest {
  /** Absolute, already contained in a repository. */
  readonly modelDirectory: string
  readonly versionDirectory: string
  /** The model's repository; absent = the model's directory. */
  readonly root?: string | undefined
  readonly parameters: ModelConfig['parameters']
  /**
   * `--backend-config=python,…`: `python-executable` (a name or path; default: the first `python3` of the PATH that fits),
   * `environments` (`on`, `off`: nothing is built or used but EXECUTION_ENV_PATH), `environment-cache-directory`,
   * `environment-cache-days`, `environment-directory` (where EXECUTION_ENV_PATH may lie outside the repository).
   */
  readonly settings: Readonly<Record<string, string>>
  /** Wins over the setting. */
  readonly cacheDirectory?: string | undefined
  /** The model's log: progress, and what was chosen. */
  readonly log: (level: 'verbose' | 'info' | 'warning' | 'error', text: string) => void
  /** Aborted at unload and exit: whatever is being built is stopped and removed. */
  readonly signal: AbortSignal | undefined
  /** Modules that the backend itself cannot do without. */
  readonly needs?: readonly NeededModule[] | undefined
}

export interface NeededModule {
  readonly module: string
  /** What to write after `pip install`. */
  readonly install: string
  /** How people call it. */
  readonly title: string
}

export interface PreparedEnvironment {
  /** The interpreter itself, absolute; no shim. */
  readonly python: string
  /** Variables that differ from the server's own; an empty one is as good as none (PYTHONHOME). */
  readonly env: Record<string, string>
  /** One line for the log and the console. */
  readonly describe: string
}

export type EnvironmentLog = EnvironmentRequest['log']
