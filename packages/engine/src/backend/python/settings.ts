import { ConchError } from '@conch/protocol'

export interface PythonSettings {
  /** Bytes of the memory for tensors of one instance, each way, at the start and when it grows. */
  readonly memorySize: number
  readonly memoryGrowth: number
  /** How long a process may take to come up, to finish, and to stand still, seconds. */
  readonly stubTimeout: number
  /** Superset: how long one execution may take, milliseconds; 0 = as long as it likes. */
  readonly executionTimeout: number
}

/** What the original cannot put on a command line: in names of models, instances and regions (python backend §1). */
export const FORBIDDEN = /[;|&$`<>()[\]{}\\"'*?~#!]/

const MEBIBYTE = 1024 * 1024

/** `--backend-config=python,…`. Throws the original's texts. Settings of other names are left to others. */
export function readPythonSettings(settings: Readonly<Record<string, string>>): PythonSettings {
  const read = (name: string, preset: number) => readInteger(settings[name], preset)
  const memorySize = read('shm-default-byte-size', MEBIBYTE)
  // The original's own slip: its limit is 1 MiB.
  if (memorySize < MEBIBYTE) refuse("shm-default-byte-size can't be smaller than 4 MiBs")
  const memoryGrowth = read('shm-growth-byte-size', MEBIBYTE)
  if (memoryGrowth <= 0) refuse("shm-growth-byte-size can't be smaller than or equal to zero.")
  const stubTimeout = read('stub-timeout-seconds', 30)
  if (stubTimeout <= 0) refuse("stub-timeout-seconds can't be smaller than or equal to zero.")
  // Memory files have no names and calls wait on no thread: these are only checked.
  if (read('thread-pool-size', 32) < 1) refuse("thread-pool-size can't be less than 1.")
  const prefix = settings['shm-region-prefix-name'] ?? 'conch'
  if (prefix === '') refuse('shm-region-prefix-name must at least contain one character.')
  if (FORBIDDEN.test(prefix)) refuse('Invalid shared memory region name: contains invalid characters')
  read('shm_message_queue_size', 1_000)
  const executionTimeout = 1_000 * read('execution-timeout-seconds', 0)
  if (executionTimeout < 0) refuse("execution-timeout-seconds can't be smaller than zero.")
  return { memorySize, memoryGrowth, stubTimeout, executionTimeout }
}

/** As C++'s `stol`: what follows the digits is ignored. */
function readInteger(text: string | undefined, preset: number): number {
  if (text === undefined) return preset
  const found = /^\s*[+-]?\d+/.exec(text)
  if (found === null) refuse('stol')
  const value = Number(found[0])
  if (!Number.isSafeInteger(value)) refuse('stol')
  return value
}

function refuse(text: string): never {
  throw new ConchError('INVALID_ARG', text)
}
