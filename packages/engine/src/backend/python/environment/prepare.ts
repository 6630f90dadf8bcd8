import { realpath, stat } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { ConchError } from '@conch/protocol'
import { activatePacked, activateVenv, checkActivate } from './activate.ts'
import { chooseCacheDirectory, readProcessEnvironment } from './env.ts'
import { fingerprintLock, fingerprintRequirements, hashParts } from './fingerprint.ts'
import { checkInterpreter, chooseInterpreter, listModules } from './choose-interpreter.ts'
import { installEnvironment, isSatisfied } from './install.ts'
import { probeInterpreter } from './interpreter.ts'
import type { Interpreter } from './interpreter.ts'
import { locateSource } from './locate.ts'
import type { Source } from './locate.ts'
import type { EnvironmentRequest, PreparedEnvironment } from './request.ts'
import { findStored, openStored } from './store.ts'
import type { StoreOptions } from './store.ts'
import { Together } from './together.ts'
import { unpackArchive } from './unpack.ts'

type Named = Exclude<Source, { kind: 'none' }>

const KEEP_DAYS = 30
const together = new Together<string>()

/**
 * The interpreter and variables that a model's processes are started with. Makes what the model asks for, once for all
 * models and servers of the machine; says what does not fit before anything is started. Throws ConchError: what it says
 * may be shown to clients.
 */
export async function prepareEnvironment(request: EnvironmentRequest): Promise<PreparedEnvironment> {
  const source = await locateSource(request)
  switch (source.kind) {
    case 'none':
      return prepareBare(request)
    case 'directory':
      return preparePacked(request, source, source.path)
    case 'archive':
      return preparePacked(request, source, await unpackOnce(request, source))
    case 'venv':
      return prepareVenv(request, source, source.path)
    case 'requirements':
    case 'lock':
      return prepareInstalled(request, source)
  }
}

/** The server's own Python. */
async function prepareBare(request: EnvironmentRequest): Promise<PreparedEnvironment> {
  const env = readProcessEnvironment()
  const found = await chooseInterpreter(request, env)
  return finish(request, found, { env, of: undefined })
}

async function preparePacked(
  request: EnvironmentRequest,
  source: Named,
  directory: string,
): Promise<PreparedEnvironment> {
  await checkActivate(directory, source.name)
  const { log, signal } = request
  const env = await activatePacked(directory, { base: readProcessEnvironment(), log, signal })
  return finish(request, await probeWithin(request, source, { directory, env }), { env, of: source.name })
}

async function prepareVenv(
  request: EnvironmentRequest,
  source: Named,
  directory: string,
): Promise<PreparedEnvironment> {
  const env = activateVenv(await realpath(directory), readProcessEnvironment())
  return finish(request, await probeWithin(request, source, { directory, env }), { env, of: source.name })
}

async function prepareInstalled(
  request: EnvironmentRequest,
  source: Extract<Source, { kind: 'requirements' | 'lock' }>,
): Promise<PreparedEnvironment> {
  const env = readProcessEnvironment()
  const interpreter = await chooseInterpreter(request, env, { bare: true })
  const { kind, path, name } = source
  const fingerprint = await (kind === 'lock' ? fingerprintLock(path) : fingerprintRequirements(path))
  const key = hashParts([kind, fingerprint, interpreter.build, interpreter.path])
  const installation = { kind, path, name, interpreter, env, log: request.log }
  const store = readStoreOptions(request)
  const stored = await findStored(store, key)
  if (stored === undefined && kind === 'requirements' && (await isSatisfied(installation, request.signal))) {
    request.log('info', `Python ${interpreter.version} has everything that ${name} asks for`)
    return finish(request, await probeInterpreter(interpreter.path, { env, modules: listModules(request) }), {
      env,
      of: undefined,
    })
  }
  const directory =
    stored ??
    (await makeOnce(request, key, (directory, signal) => installEnvironment(installation, { directory, signal })))
  return prepareVenv(request, source, directory)
}

/** By path and time of the archive, as the original; by its size too. */
async function unpackOnce(request: EnvironmentRequest, source: Named): Promise<string> {
  const { path, name } = source
  const facts = await stat(path, { bigint: true })
  const key = hashParts(['archive', path, String(facts.mtimeNs), String(facts.size)])
  const { log } = request
  return makeOnce(request, key, (directory, signal) =>
    unpackArchive({ archive: path, directory }, { name, log, signal }),
  )
}

function makeOnce(
  request: EnvironmentRequest,
  key: string,
  make: (directory: string, signal: AbortSignal | undefined) => Promise<void>,
): Promise<string> {
  const store = readStoreOptions(request)
  const { log } = request
  if (together.has(key)) log('info', 'another model is making the same environment; waiting for it')
  return together.run(key, request.signal, (signal) => openStored(store, key, { make, log, signal }))
}

function readStoreOptions({ settings, cacheDirectory }: EnvironmentRequest): StoreOptions {
  const directory = cacheDirectory ?? settings['environment-cache-directory'] ?? chooseCacheDirectory()
  if (!isAbsolute(directory)) {
    throw new ConchError('INVALID_ARG', 'environment-cache-directory of the Python backend must be an absolute path')
  }
  const days = Number(settings['environment-cache-days'] ?? KEEP_DAYS)
  if (!(days > 0)) throw new ConchError('INVALID_ARG', 'environment-cache-days of the Python backend must be above 0')
  return { directory, keepDays: days }
}

async function probeWithin(
  request: EnvironmentRequest,
  source: Named,
  { directory, env }: { directory: string; env: Record<string, string> },
): Promise<Interpreter> {
  try {
    return await probeInterpreter(join(directory, 'bin', 'python'), { env, modules: listModules(request) })
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.replaceAll(directory, source.name) : String(cause)
    const fix = 'it must be made for the operating system, the processor and the libraries of this machine'
    throw new ConchError(
      'UNAVAILABLE',
      `the Python of the environment '${source.name}' cannot be used: ${why}; ${fix}`,
      {
        cause,
      },
    )
  }
}

async function finish(
  request: EnvironmentRequest,
  interpreter: Interpreter,
  { env, of }: { env: Record<string, string>; of: string | undefined },
): Promise<PreparedEnvironment> {
  await checkInterpreter(request, interpreter, of)
  const where = of === undefined ? '' : ` of ${of}`
  const describe = `Python ${interpreter.version}${where}`
  request.log('verbose', `${describe}: ${interpreter.path}`)
  return { python: interpreter.path, env: findChanges(env), describe }
}

/** Python takes an empty PYTHONHOME for none. */
function findChanges(env: Readonly<Record<string, string>>): Record<string, string> {
  const own = readProcessEnvironment()
  const changed = Object.entries(env).filter(([name, value]) => own[name] !== value)
  const dropped = own['PYTHONHOME'] !== undefined && env['PYTHONHOME'] === undefined ? { PYTHONHOME: '' } : {}
  return { ...Object.fromEntries(changed), ...dropped }
}
