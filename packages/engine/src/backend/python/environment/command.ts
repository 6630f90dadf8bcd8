import { spawn } from 'node:child_process'
import { ConchError } from '@conch/protocol'
import { refuseCancelled } from './cancelled.ts'

const MAX_LINE = 500
const MAX_LINES = 40
/** Probes print one line; whatever prints more than this is no Python. */
const MAX_OUTPUT = 1024 * 1024

export interface Command {
  readonly program: string
  readonly args: readonly string[]
  readonly directory: string
  readonly env: Readonly<Record<string, string>>
  readonly signal: AbortSignal | undefined
  /** Takes each line of both outputs as it comes. */
  readonly onLine?: (line: string) => void
  readonly timeoutMs?: number
}

export interface CommandResult {
  /** -1 when a signal or the time limit ended it. */
  readonly code: number
  /** Standard output, cut at 1 MB. */
  readonly output: string
  /** The last lines of both outputs. */
  readonly lines: readonly string[]
}

/** Runs a program in a process group of its own; an abort kills the group. Rejects when it cannot be started. */
export async function runCommand(command: Command): Promise<CommandResult> {
  const { program, args, directory: cwd, env, signal } = command
  if (signal?.aborted === true) throw refuseCancelled()
  const options = { cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'] as ['ignore', 'pipe', 'pipe'] }
  // Types of the console's framework ask for a NODE_ENV in every environment.
  const child = spawn(program, args, { ...options, env: env as NodeJS.ProcessEnv })
  const { pid } = child
  const kill = (): void => {
    if (pid !== undefined) killGroup(pid)
  }
  if (pid !== undefined) running.add(pid)
  const timer = command.timeoutMs === undefined ? undefined : setTimeout(kill, command.timeoutMs)
  signal?.addEventListener('abort', kill)
  let output = ''
  const lines: string[] = []
  const take = (line: string): void => {
    lines.push(line)
    if (lines.length > MAX_LINES) lines.shift()
    command.onLine?.(line)
  }
  const [onOutput, onError] = [new LineSplitter(take), new LineSplitter(take)]
  child.stdout.on('data', (chunk: Buffer) => {
    if (output.length < MAX_OUTPUT) output += chunk.toString('utf8')
    onOutput.write(chunk)
  })
  child.stderr.on('data', (chunk: Buffer) => onError.write(chunk))
  try {
    const code = await new Promise<number>((resolve, reject) => {
      child.on('error', reject)
      child.on('close', (exit) => resolve(exit ?? -1))
    })
    onOutput.end()
    onError.end()
    if (isAborted(signal)) throw refuseCancelled()
    return { code, output, lines }
  } catch (cause) {
    if (cause instanceof ConchError) throw cause
    throw new ConchError('UNAVAILABLE', `'${program}' could not be started`, { cause })
  } finally {
    if (pid !== undefined) running.delete(pid)
    clearTimeout(timer)
    signal?.removeEventListener('abort', kill)
  }
}

/** Groups that must not outlive this process. */
const running = new Set<number>()
process.once('exit', () => {
  for (const pid of running) killGroup(pid)
})

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended meanwhile.
  }
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true
}

/** Splits what a program prints into lines that a log can take. */
class LineSplitter {
  readonly #take: (line: string) => void
  #rest = ''

  constructor(take: (line: string) => void) {
    this.#take = take
  }

  write(chunk: Buffer): void {
    const parts = (this.#rest + chunk.toString('utf8')).split(/[\r\n]+/)
    this.#rest = (parts.pop() ?? '').slice(0, MAX_LINE)
    for (const part of parts) this.#give(part)
  }

  end(): void {
    this.#give(this.#rest)
    this.#rest = ''
  }

  #give(line: string): void {
    const clean = cleanLine(line)
    if (clean !== '') this.#take(clean)
  }
}

/** No colours, no control characters, no passwords of an index. */
function cleanLine(line: string): string {
  const plain = line
    .replaceAll(/\u001b\[[\d;?]*[A-Za-z]/g, '')
    .replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '')
    .replaceAll(/:\/\/[^@/\s]*@/g, '://***@')
  return plain.trimEnd().slice(0, MAX_LINE)
}
