// What models in Python need: an interpreter with numpy. The machine's own serves if it has it; else one is made here.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { SetupError, checkDisk, env, root, run } from './setup.mjs'

/** Beside what the checks keep; `rm -rf .cache/python` makes it anew. */
const VENV = path.join(root, '.cache', 'python')
const CANDIDATES = [
  'python3',
  'python',
  'python3.14',
  'python3.13',
  'python3.12',
  'python3.11',
  'python3.10',
  'python3.9',
]
/** The newest numpy for each Python. */
const NUMPY = { 3.9: '2.0.2', '3.10': '2.2.6' }
const NEWEST_NUMPY = '2.4.6'

/** Answers `3.11`, or undefined when the program does not run, is too old or lacks a module. */
function probe(program, modules) {
  const code = `import sys, ${modules}; assert sys.version_info >= (3, 9); print("%d.%d" % sys.version_info[:2])`
  try {
    return execFileSync(program, ['-c', code], { encoding: 'utf8', env, stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return undefined
  }
}

/**
 * The interpreter to name on the command line, or undefined when the server finds a fitting one on the PATH by itself.
 * Without any Python the server starts all the same: only models in Python will not load, and say why.
 */
export async function ensureNumpy() {
  if (CANDIDATES.some((program) => probe(program, 'numpy') !== undefined)) return undefined
  const python = path.join(VENV, 'bin', 'python')
  if (existsSync(python) && probe(python, 'numpy') !== undefined) return python
  try {
    return await makeEnvironment(python)
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    process.stderr.write(
      `\n${error.message}\n\nGoing on without: models in Python will not load until that is mended.\n\n`,
    )
    return undefined
  }
}

async function makeEnvironment(python) {
  const base = CANDIDATES.find((program) => probe(program, 'venv, ensurepip') !== undefined)
  if (base === undefined) {
    throw new SetupError(
      'Models in Python need Python 3.9 or newer with venv, and none was found. Install it (Debian: apt-get install python3 python3-venv).',
    )
  }
  checkDisk(0.3)
  const numpy = `numpy==${NUMPY[probe(base, 'venv')] ?? NEWEST_NUMPY}`
  await run('making a Python environment for models (.cache/python)', [base, '-m', 'venv', '--clear', VENV])
  await run(`installing ${numpy} into it`, [
    python,
    '-m',
    'pip',
    'install',
    '--quiet',
    '--disable-pip-version-check',
    numpy,
  ])
  return python
}
