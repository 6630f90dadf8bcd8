// The checks of `npm test`, in order. Each answers how many of its tests passed and failed; a plain tool counts as one.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { env, root } from './setup.mjs'
import { ensureNumpy } from './setup-python.mjs'
import { ensureChromium, ensurePython, python } from './setup-tests.mjs'

export const RESULTS = path.join(root, '.cache', 'test')
const COMPAT = path.join(root, 'apps', 'server', 'test', 'compat')
const PYTHON_STUB = path.join(root, 'packages', 'engine', 'python')
const CONFORMANCE = path.join(root, 'apps', 'server', 'test', 'conformance')

/** Runs a command in sight of the user; answers its exit code. */
function show(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'], ...options })
    child.on('error', reject)
    child.on('close', (code) => resolve(code ?? 1))
  })
}

/** What a tool that failed without naming a failed test adds up to: one failure. */
function verdict(code, { passed, failed, note = '' }) {
  return { passed, failed: code !== 0 && failed === 0 ? 1 : failed, note }
}

function tool(script) {
  return async (extra) => {
    const code = await show('npm', ['run', '--silent', script, ...(extra.length > 0 ? ['--', ...extra] : [])])
    return { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, note: '' }
  }
}

function readResult(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
}

const counted = (number, word) => (number > 0 ? `${number} ${word}` : '')

async function runUnit(extra) {
  // Its environment carries the redis-server and the Python that some tests talk to.
  await ensurePython()
  const file = path.join(RESULTS, 'unit.json')
  const code = await show('vitest', [
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${file}`,
    ...extra,
  ])
  const result = readResult(file)
  return verdict(code, {
    passed: result?.numPassedTests ?? 0,
    failed: result?.numFailedTests ?? 0,
    note: counted((result?.numPendingTests ?? 0) + (result?.numTodoTests ?? 0), 'skipped'),
  })
}

async function runConformance(extra) {
  await ensurePython()
  const pytest = (args, options) =>
    show(python, ['-m', 'pytest', '-p', 'no:cacheprovider', ...args], { cwd: CONFORMANCE, ...options })
  const rules = await pytest(['-q', '--noconftest', 'check_expected_failures.py'])
  if (rules !== 0) return { passed: 0, failed: 1, note: 'the rules of the expected failures are broken' }

  const file = path.join(RESULTS, 'conformance.json')
  const server = `'${path.join(root, 'bin', 'conch')}' serve`
  const code = await pytest([
    `--server=${server}`,
    // The Python of the suite has the numpy that Python models need.
    `--server-env=PATH=${path.dirname(python)}${path.delimiter}${process.env.PATH}`,
    `--summary=${file}`,
    '--junitxml',
    path.join(RESULTS, 'conformance.xml'),
    '-q',
    '-r',
    'fE',
    ...extra,
  ])
  const counts = readResult(file)?.counts ?? { passed: 0, failed: 0, xfailed: 0, xpassed: 0, skipped: 0 }
  const notes = [
    counted(counts.xfailed, 'expected failures'),
    counted(counts.xpassed, 'of them pass now'),
    counted(counts.skipped, 'skipped'),
  ]
  return verdict(code, {
    passed: counts.passed,
    failed: counts.failed + (code === 0 ? 0 : counts.xpassed),
    note: notes.filter(Boolean).join(', '),
  })
}

/** pytest in a directory of its own, counted by its report. */
function pytestIn(name, directory) {
  return async (extra) => {
    await ensurePython()
    const file = path.join(RESULTS, `${name}.xml`)
    const code = await show(python, ['-m', 'pytest', '-q', '-r', 'fEs', '--junitxml', file, ...extra], {
      cwd: directory,
    })
    const report = existsSync(file) ? readFileSync(file, 'utf8') : ''
    const count = (word) => Number(new RegExp(`${word}="(\\d+)"`).exec(report)?.[1] ?? 0)
    const [tests, failed, skipped] = [count('tests'), count('failures') + count('errors'), count('skipped')]
    return verdict(code, { passed: tests - failed - skipped, failed, note: counted(skipped, 'skipped') })
  }
}

function describeStats(stats) {
  return [counted(stats?.skipped ?? 0, 'skipped'), counted(stats?.flaky ?? 0, 'flaky')].filter(Boolean).join(', ')
}

async function runJourney(extra) {
  const chromium = await ensureChromium()
  const interpreter = (await ensureNumpy()) ?? ''
  const file = path.join(RESULTS, 'journey.json')
  const code = await show('playwright', ['test', '--reporter=list,json', ...extra], {
    env: { ...env, CONCH_CHROMIUM: chromium, CONCH_PYTHON: interpreter, PLAYWRIGHT_JSON_OUTPUT_NAME: file },
  })
  const stats = readResult(file)?.stats
  return verdict(code, {
    passed: (stats?.expected ?? 0) + (stats?.flaky ?? 0),
    failed: stats?.unexpected ?? 0,
    note: describeStats(stats),
  })
}

export const steps = [
  { name: 'format', what: 'prettier', run: tool('format:check') },
  { name: 'lint', what: 'oxlint, type-aware', run: tool('lint') },
  { name: 'types', what: 'TypeScript, tests included', run: tool('types') },
  { name: 'walls', what: 'who may import whom', run: tool('walls') },
  { name: 'dead', what: 'unused files, exports and dependencies', run: tool('dead') },
  { name: 'unit', what: 'unit, property, wire and document tests', run: runUnit },
  { name: 'python', what: "a Python model's own process", run: pytestIn('python', PYTHON_STUB) },
  { name: 'console', what: 'the console builds', run: tool('build:console') },
  { name: 'conformance', what: 'black-box suite against bin/conch serve', run: runConformance },
  { name: 'compat', what: "the same numbers as Python's ONNX Runtime", run: pytestIn('compat', COMPAT) },
  { name: 'journey', what: 'a person in a browser', run: runJourney },
]
