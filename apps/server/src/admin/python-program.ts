import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { ConchError } from '@conch/protocol'
import type { ServeFacts } from './admin-options.ts'

/** The Python that runs models: `--backend-config=python,python-executable=…`, else the first `python3` on the PATH. */
export function choosePython(settings: ServeFacts['backendConfig'] = {}): string {
  const name = 'python-executable'
  return settings['python']?.[name] ?? settings['']?.[name] ?? 'python3'
}

const SOURCE_CHECK = fileURLToPath(new URL('../../python/check_source.py', import.meta.url))
/** Milliseconds; the check itself takes some 50. */
const PATIENCE = 10_000
const MAX_OUTPUT = 4 * 1_048_576
/** Each is a process of its own. */
const AT_ONCE = 2
const MOST_WAITING = 20

let running = 0
const waiting: (() => void)[] = []

/** Asks `check_source.py` and gives back its answer, parsed. It looks at the source; nothing of it is run. */
export async function askSourceCheck(python: string, question: object): Promise<unknown> {
  if (waiting.length >= MOST_WAITING)
    throw new ConchError('UNAVAILABLE', 'too many sources are being checked; try again')
  if (running >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve))
  running += 1
  try {
    return JSON.parse(await runCheck(python, JSON.stringify(question))) as unknown
  } finally {
    running -= 1
    waiting.shift()?.()
  }
}

function runCheck(python: string, input: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(python, ['-I', '-B', SOURCE_CHECK], { timeout: PATIENCE, killSignal: 'SIGKILL' })
    const output: Buffer[] = []
    let size = 0
    let complaint = ''
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.byteLength
      if (size > MAX_OUTPUT) child.kill('SIGKILL')
      else output.push(chunk)
    })
    child.stderr.on('data', (chunk: Buffer) => (complaint = (complaint + chunk.toString('utf8')).slice(-1000)))
    child.on('error', (cause) => reject(refuseMissing(python, cause)))
    child.on('close', (code, signal) => {
      if (code === 0 && size <= MAX_OUTPUT) resolve(Buffer.concat(output).toString('utf8'))
      else reject(refuseBroken(code, signal, complaint))
    })
    // A process that ended early does not read on; its exit code tells more than the broken pipe.
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
  })
}

function refuseMissing(python: string, cause: Error): ConchError {
  const fix = 'install Python 3.9 or newer with numpy, or name one by --backend-config=python,python-executable=PATH'
  const name = python.split('/').at(-1) ?? python
  return new ConchError('UNAVAILABLE', `'${name}' cannot be started on the server; ${fix}`, { cause })
}

function refuseBroken(code: number | null, signal: string | null, complaint: string): ConchError {
  const last = complaint.trim().split('\n').at(-1) ?? ''
  const how = signal === null ? `ended with ${code}` : `was ended by ${signal}`
  return new ConchError('UNAVAILABLE', `the check of the source ${how}${last === '' ? '' : `: ${last}`}`)
}
