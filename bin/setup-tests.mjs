// What only the checks need: a Python environment with the official clients, and a browser.
import { createHash } from 'node:crypto'
import { execFileSync } from 'node:child_process'
import { accessSync, constants, existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { SetupError, checkDisk, root, run } from './setup.mjs'

const VENV = path.join(root, '.venv')
const STAMP = path.join(VENV, 'requirements.sha256')
const REQUIREMENTS = path.join(root, 'apps', 'server', 'test', 'conformance', 'requirements.txt')

export const python = path.join(VENV, 'bin', 'python')

/** Makes `.venv` and installs the pinned requirements, unless that was done for the same list. */
export async function ensurePython() {
  const hash = createHash('sha256').update(readFileSync(REQUIREMENTS)).digest('hex')
  if (existsSync(python) && existsSync(STAMP) && readFileSync(STAMP, 'utf8') === hash) return
  checkDisk(1)
  if (!existsSync(python)) await run('making a Python environment (.venv)', [findPython(), '-m', 'venv', VENV])
  await run('installing Python packages for the conformance suite', [
    python,
    '-m',
    'pip',
    'install',
    '--quiet',
    '--disable-pip-version-check',
    '-r',
    REQUIREMENTS,
  ])
  writeFileSync(STAMP, hash)
}

/** The pinned packages exist for Python 3.10 to 3.12. */
function findPython() {
  const found = []
  for (const name of ['python3', 'python3.12', 'python3.11', 'python3.10']) {
    const version = pythonVersion(name)
    if (version === undefined) continue
    if (['3.10', '3.11', '3.12'].includes(version)) return name
    found.push(`${name} is ${version}`)
  }
  const why = found.length === 0 ? 'no python3 was found' : found.join(', ')
  throw new SetupError(
    `The conformance suite needs Python 3.10, 3.11 or 3.12, but ${why}. Install one (Debian: apt-get install python3 python3-venv), ` +
      'or leave the suite out: npm test -- --skip=conformance',
  )
}

function pythonVersion(name) {
  try {
    const code = 'import sys, venv, ensurepip; print("%d.%d" % sys.version_info[:2])'
    return execFileSync(name, ['-c', code], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return undefined
  }
}

const BROWSERS = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome']

function findOnPath(names) {
  const folders = (process.env.PATH ?? '').split(path.delimiter)
  return names.flatMap((name) => folders.map((folder) => path.join(folder, name))).find(isExecutable)
}

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** The path of a Chromium; CONCH_CHROMIUM names one that is not on the PATH. */
export async function ensureChromium() {
  const found = process.env.CONCH_CHROMIUM ?? findOnPath(BROWSERS)
  if (found !== undefined) return found
  if (process.getuid?.() === 0 && findOnPath(['apt-get']) !== undefined) {
    await run('looking for browser packages', ['apt-get', 'update', '-q'])
    await run('installing Chromium', ['apt-get', 'install', '-q', '-y', '--no-install-recommends', 'chromium'])
    return findOnPath(BROWSERS)
  }
  throw new SetupError(
    'The journeys need Chromium, and none was found. Install it (Debian: apt-get install chromium), name one with CONCH_CHROMIUM=/path, ' +
      'or leave them out: npm test -- --skip=journey',
  )
}
