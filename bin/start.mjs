// npm start: sets up what is missing, then serves the example models and the console on this machine only.
// Further arguments go to `conch up` (npm start -- --http-port=9000).
import { spawn } from 'node:child_process'
import path from 'node:path'
import { ensureNumpy } from './setup-python.mjs'
import { buildConsole, checkDisk, checkNode, checkPort, ensurePackages, env, fail, root } from './setup.mjs'

const DEFAULTS = {
  'model-repository': 'examples/models',
  'model-control-mode': 'explicit',
  'load-model': '*',
  'exit-on-error': 'false',
  'strict-readiness': 'false',
  'http-address': '127.0.0.1',
  'grpc-address': '127.0.0.1',
  'metrics-address': '127.0.0.1',
  'console-address': '127.0.0.1',
  'console-port': '8080',
  'data-dir': '.conch',
}
const PORTS = [
  { kind: 'http', port: 8000, what: 'models over HTTP' },
  { kind: 'metrics', port: 8002, what: 'metrics' },
  { kind: 'console', port: 8080, what: 'the console' },
]

/** `--name value` and `--name=value`; undefined when absent. */
function given(args, name) {
  const at = args.findIndex((arg) => arg === `--${name}` || arg.startsWith(`--${name}=`))
  if (at < 0) return undefined
  const [, value] = args[at].split(/=(.*)/s)
  return value ?? args[at + 1] ?? ''
}

function serverArguments(args) {
  const control = given(args, 'model-control-mode')
  return (
    Object.entries(DEFAULTS)
      .filter(([name]) => given(args, name) === undefined)
      // Only the explicit mode takes a list of models.
      .filter(([name]) => name !== 'load-model' || control === undefined || control === 'explicit')
      .map(([name, value]) => `--${name}=${value}`)
      .concat(args)
  )
}

async function checkPorts(args) {
  for (const { kind, port, what } of PORTS) {
    const flag = `${kind}-port`
    const address = given(args, `${kind}-address`) ?? '127.0.0.1'
    await checkPort({ port: Number(given(args, flag) ?? port), address, what, flag })
  }
}

/** Names the interpreter for models in Python, unless the operator did. */
async function pythonArguments(args) {
  if (args.some((arg) => arg.includes('python-executable='))) return []
  const python = await ensureNumpy()
  return python === undefined ? [] : [`--backend-config=python,python-executable=${python}`]
}

/** Signals go on to the server; a terminal's Ctrl-C reaches it anyway, so that one is only kept from ending us first. */
function serve(args) {
  const server = spawn(path.join(root, 'bin', 'conch'), ['up', ...args], { cwd: root, env, stdio: 'inherit' })
  process.on('SIGTERM', () => server.kill('SIGTERM'))
  process.on('SIGHUP', () => server.kill('SIGTERM'))
  process.on('SIGINT', () => process.stdin.isTTY || server.kill('SIGINT'))
  server.on('error', fail)
  server.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' || signal === 'SIGTERM' ? 0 : 1)))
}

const args = process.argv.slice(2)
try {
  checkNode()
  checkDisk(0.2)
  await checkPorts(args)
  await ensurePackages()
  await buildConsole()
  serve([...(await pythonArguments(args)), ...serverArguments(args)])
} catch (error) {
  fail(error)
}
