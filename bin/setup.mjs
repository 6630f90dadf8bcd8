// What a fresh clone needs before anything runs. No dependencies: this runs before there are any, on Node 20 or newer.
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, readFileSync, statfsSync } from 'node:fs'
import { createServer } from 'node:net'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..')

/** A fault that a person can mend: shown without a stack. */
export class SetupError extends Error {}

/** Tools neither report home nor download binaries on their own, and every script finds the pinned Node first. */
export const env = {
  ...process.env,
  PATH: `${path.join(root, 'node_modules', '.bin')}${path.delimiter}${process.env.PATH ?? ''}`,
  CHECKPOINT_DISABLE: '1',
  DO_NOT_TRACK: '1',
  NEXT_TELEMETRY_DISABLED: '1',
  ONNXRUNTIME_NODE_INSTALL: 'skip',
  PRISMA_HIDE_UPDATE_MESSAGE: '1',
  PYTHONDONTWRITEBYTECODE: '1',
  TURBO_TELEMETRY_DISABLED: '1',
}

export const seconds = (since) => `${((performance.now() - since) / 1000).toFixed(1)} s`

/** Runs a command out of sight and shows that it still runs; its output appears only when it fails. */
export function run(label, [command, ...args]) {
  const began = performance.now()
  process.stdout.write(`- ${label} …\n`)
  const alive = setInterval(() => process.stdout.write(`  still at it: ${label} (${seconds(began)})\n`), 15_000)
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
    child.on('error', (error) => {
      clearInterval(alive)
      reject(new SetupError(`${label}: cannot run ${command} (${error.code}).`))
    })
    child.on('close', (code, signal) => {
      clearInterval(alive)
      process.stdout.write(`  ${code === 0 ? 'done' : `failed (${signal ?? `code ${code}`})`} in ${seconds(began)}\n`)
      if (code === 0) resolve(output)
      else
        reject(
          new SetupError(`${label} failed: ${command} ${args.join(' ')}\n\n${output.trim()}\n${adviceFor(output)}`),
        )
    })
  })
}

function adviceFor(output) {
  if (/ENOSPC|No space left/i.test(output))
    return '\nThe disk is full: free some space, then run the same command again.'
  if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT/.test(output))
    return '\nThe package registry cannot be reached: check the network or the registry in your .npmrc, then run it again.'
  if (/EACCES|EPERM/.test(output)) return '\nNo permission to write here: does this folder belong to you?'
  return ''
}

export function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major < 20 || (major === 20 && minor < 19))
    throw new SetupError(
      `Node ${process.versions.node} is too old to start the set-up: 20.19 or newer is needed (Conch brings its own Node 24).`,
    )
}

/** @param {number} gigabytes free space that the next step needs */
export function checkDisk(gigabytes) {
  const { bavail, bsize } = statfsSync(root)
  const free = (bavail * bsize) / 1e9
  if (free < gigabytes)
    throw new SetupError(
      `The disk is nearly full: ${free.toFixed(1)} GB free at ${root}, ${gigabytes} GB needed. Free some space and try again.`,
    )
}

/** True when every package of the lock file is installed in the locked version. */
function isInstalled() {
  const record = path.join(root, 'node_modules', '.package-lock.json')
  if (!existsSync(record)) return false
  const installed = JSON.parse(readFileSync(record, 'utf8')).packages
  const wanted = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8')).packages
  return Object.entries(wanted).every(([where, entry]) => {
    const here = installed[where]
    if (entry.link || !where.includes('node_modules/')) return true
    return here === undefined ? Boolean(entry.optional) : here.version === entry.version
  })
}

/** Installs the locked packages (the pinned Node among them) unless they are there. */
export async function ensurePackages() {
  if (isInstalled()) return
  checkDisk(3)
  checkNpm()
  await run('installing packages (npm ci; a minute or two)', [
    'npm',
    'ci',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ])
}

function checkNpm() {
  let version = ''
  try {
    version = execFileSync('npm', ['--version'], { encoding: 'utf8', env }).trim()
  } catch (error) {
    throw new SetupError('npm is not there: install Node with npm (nodejs.org), then try again.', { cause: error })
  }
  if (Number(version.split('.')[0]) < 10)
    throw new SetupError(`npm ${version} is too old for this lock file: run "npm install -g npm@11".`)
}

export async function buildConsole() {
  if (!existsSync(path.join(root, 'apps', 'console', 'src', 'app'))) return
  await run('building the console (cached when unchanged)', [
    'turbo',
    'run',
    'build',
    '--filter=@conch/console',
    '--output-logs=errors-only',
  ])
}

/** @param {{ port: number, address: string, what: string, flag: string }} door */
export function checkPort({ port, address, what, flag }) {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', (error) => {
      const why = error.code === 'EADDRINUSE' ? 'is taken by another program' : `cannot be opened (${error.code})`
      reject(
        new SetupError(
          `Port ${port} on ${address} (${what}) ${why}. Choose another one: npm start -- --${flag}=${port + 1000}`,
        ),
      )
    })
    probe.listen(port, address, () => probe.close(resolve))
  })
}

/** Ends a command with the fault's text and no stack, where a person can mend it. */
export function fail(error) {
  process.stderr.write(`\n${error instanceof SetupError ? error.message : error.stack}\n`)
  process.exit(1)
}
