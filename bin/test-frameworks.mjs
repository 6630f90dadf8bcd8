// npm run test:frameworks [-- NAMES]: installs real frameworks from PyPI (some gigabytes, once, in .cache/frameworks), makes
// models with them, serves these by bin/conch and compares what comes back. docs/frameworks.json keeps what was tried;
// npm run docs puts it into docs/compat.md. Opt-in because of its size: npm test does not run it.
import { createHash } from 'node:crypto'
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { checkDisk, ensurePackages, env, fail, root, run, SetupError } from './setup.mjs'

const SCRIPTS = path.join(root, 'packages', 'engine', 'test', 'frameworks')
const CACHE = path.join(root, '.cache', 'frameworks')
const RECORD = path.join(root, 'docs', 'frameworks.json')
/** Backends whose models a framework's script makes; gigabytes that its packages need. */
const FRAMEWORKS = {
  trees: { backends: ['fil', 'sklearn'], gigabytes: 1 },
  pytorch: { backends: ['pytorch'], gigabytes: 8 },
  tensorflow: { backends: ['tensorflow'], gigabytes: 3 },
}
const START_MS = 600_000
const TOLERANCE = 1e-4

/** The pinned packages exist for these versions. */
function findPython() {
  const names = ['python3', 'python3.12', 'python3.11']
  const found = names.find((name) => {
    try {
      const version = execFileSync(name, ['-c', 'import sys, venv; print("%d.%d" % sys.version_info[:2])'], {
        stdio: 'pipe',
      })
      return ['3.11', '3.12'].includes(String(version).trim())
    } catch {
      return false
    }
  })
  if (found === undefined) throw new SetupError('The frameworks need Python 3.11 or 3.12 with venv on the PATH.')
  return found
}

/** The environment of a framework, made once for the same list of packages. */
async function ensureEnvironment(name) {
  const requirements = path.join(SCRIPTS, `${name}.txt`)
  const place = path.join(CACHE, name)
  const python = path.join(place, 'bin', 'python')
  const stamp = path.join(place, 'requirements.sha256')
  const hash = createHash('sha256').update(readFileSync(requirements)).digest('hex')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === hash) return python
  checkDisk(FRAMEWORKS[name].gigabytes)
  rmSync(place, { recursive: true, force: true })
  await run(`making an environment for ${name}`, [findPython(), '-m', 'venv', place])
  const packages = readFileSync(requirements, 'utf8').trim().split('\n').join(', ')
  const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', requirements]
  await run(`installing ${packages}`, [python, ...install])
  writeFileSync(stamp, hash)
  return python
}

function findPort() {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.on('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address()
      probe.close(() => resolve(port))
    })
  })
}

/** Serves the models; what `use` is given answers requests. The server ends with it. */
async function withServer(name, { models, python }, use) {
  const port = await findPort()
  const settings = FRAMEWORKS[name].backends.map((backend) => `--backend-config=${backend},python-executable=${python}`)
  const flags = ['--http-address=127.0.0.1', `--http-port=${port}`, '--allow-grpc=false', '--allow-metrics=false']
  const server = spawn(
    path.join(root, 'bin', 'conch'),
    ['serve', `--model-repository=${models}`, '--exit-on-error=false', ...flags, ...settings],
    { env, stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let log = ''
  for (const stream of [server.stdout, server.stderr]) stream.on('data', (chunk) => (log += chunk))
  const ended = new Promise((resolve) => server.on('close', resolve))
  const ask = async (where, body) => {
    const response = await fetch(
      `http://127.0.0.1:${port}/v2/${where}`,
      body && { method: 'POST', body: JSON.stringify(body) },
    )
    const text = await response.text()
    return { status: response.status, body: text === '' ? {} : JSON.parse(text) }
  }
  try {
    await waitUntilLive(ask, ended)
    return await use(ask)
  } catch (error) {
    throw new SetupError(`${error.message}\n\n${log.slice(-4_000)}`, { cause: error })
  } finally {
    server.kill('SIGTERM')
    await ended
  }
}

async function waitUntilLive(ask, ended) {
  let isOver = false
  void ended.then(() => (isOver = true))
  const started = performance.now()
  while (!isOver && performance.now() - started < START_MS) {
    const answer = await ask('health/live').catch(() => undefined)
    if (answer?.status === 200) return
    await sleep(200)
  }
  throw new Error(isOver ? 'the server ended while it started' : 'the server did not start in time')
}

/** Undefined when the case went well, else why not. */
async function tryCase(ask, one, states) {
  const { state, reason = '' } = states.get(one.model) ?? {}
  if (one.loadError !== undefined) return checkRefusal(one.loadError, { state, reason })
  if (state !== 'READY') return `the model was not loaded: ${reason}`
  const { status, body } = await ask(`models/${one.model}/infer`, { inputs: one.inputs })
  if (one.error !== undefined) return body.error?.includes(one.error) ? undefined : `${status} ${JSON.stringify(body)}`
  return status === 200 ? compareOutputs(body.outputs, one.outputs) : `${status} ${body.error}`
}

/** A reason is one line, and names no place of the server. */
function checkRefusal(text, { state, reason }) {
  if (state === 'READY') return 'the model was loaded'
  const isPlain = !reason.includes('\n') && !reason.includes(root)
  return reason.includes(text) && isPlain ? undefined : `the reason is: ${reason}`
}

function compareOutputs(outputs, expected) {
  for (const one of expected) {
    const found = outputs.find((output) => output.name === one.name)
    const why = found === undefined ? 'it is missing' : compare(found, one)
    if (why !== undefined) return `output ${one.name}: ${why}`
  }
  return undefined
}

function compare(found, expected) {
  if (found.datatype !== expected.datatype) return `${found.datatype} instead of ${expected.datatype}`
  if (found.shape.join() !== expected.shape.join()) return `shape ${found.shape} instead of ${expected.shape}`
  const isNear = (value, index) => {
    const want = expected.data[index]
    return value === want || (typeof value === 'number' && Math.abs(value - want) <= TOLERANCE * (1 + Math.abs(want)))
  }
  return found.data.every(isNear)
    ? undefined
    : `${JSON.stringify(found.data)} instead of ${JSON.stringify(expected.data)}`
}

/** What was tried with one framework, as the record keeps it. */
async function tryFramework(name) {
  const python = await ensureEnvironment(name)
  const place = mkdtempSync(path.join(tmpdir(), `conch-${name}-`))
  try {
    await run(`making models with ${name}`, [python, path.join(SCRIPTS, `make_${name}.py`), place])
    const { python: version, packages, cases } = JSON.parse(readFileSync(path.join(place, 'cases.json'), 'utf8'))
    const tried = await withServer(name, { models: path.join(place, 'models'), python }, async (ask) => {
      const { body: index } = await ask('repository/index', {})
      const states = new Map(index.map((model) => [model.name, model]))
      const results = []
      for (const one of cases) {
        const why = await tryCase(ask, one, states)
        process.stdout.write(
          `  ${why === undefined ? 'ok    ' : 'FAILED'} ${one.what}${why === undefined ? '' : `: ${why}`}\n`,
        )
        results.push({ what: one.what, ok: why === undefined })
      }
      return results
    })
    return { name, date: new Date().toISOString().slice(0, 10), python: version, packages, tried }
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}

async function main() {
  const asked = process.argv.slice(2)
  const unknown = asked.find((name) => !Object.hasOwn(FRAMEWORKS, name))
  if (unknown !== undefined)
    throw new SetupError(`no framework ${unknown}; there are ${Object.keys(FRAMEWORKS).join(', ')}`)
  await ensurePackages()
  const record = existsSync(RECORD) ? JSON.parse(readFileSync(RECORD, 'utf8')) : []
  let failed = 0
  for (const name of asked.length > 0 ? asked : Object.keys(FRAMEWORKS)) {
    const result = await tryFramework(name)
    failed += result.tried.filter(({ ok }) => !ok).length
    const others = record.filter((one) => one.name !== name)
    record.splice(0, record.length, ...[...others, result].sort((a, b) => a.name.localeCompare(b.name)))
    writeFileSync(RECORD, `${JSON.stringify(record, null, 2)}\n`)
  }
  process.stdout.write(
    failed === 0 ? 'all went well; npm run docs puts it into docs/compat.md\n' : `${failed} failed\n`,
  )
  process.exitCode = failed === 0 ? 0 : 1
}

await main().catch(fail)
