import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { makeDirectory } from '../../../testing.ts'
import { prepareEnvironment } from './prepare.ts'
import type { EnvironmentRequest } from './request.ts'

/** Wheels that the test makes, and an interpreter that has one of them: `numpy`. No index is asked for anything. */
let wheels = ''
let base = ''
beforeAll(async () => {
  wheels = await mkdtemp(join(tmpdir(), 'conch-wheels-'))
  await makeWheel('numpy', '9.9.9')
  await makeWheel('conchling', '1.0')
  await makeWheel('conchling', '2.0')
  execFileSync('python3', ['-m', 'venv', join(wheels, 'base')])
  base = join(wheels, 'base', 'bin', 'python')
  execFileSync(base, ['-m', 'pip', 'install', '-q', '--no-index', '--find-links', wheels, 'numpy'])
}, 60_000)
afterAll(() => rm(wheels, { recursive: true, force: true }))

async function makeWheel(name: string, version: string) {
  const tree = await makeDirectory({
    [`${name}/__init__.py`]: `__version__ = "${version}"\n`,
    [`${name}-${version}.dist-info/METADATA`]: `Metadata-Version: 2.1\nName: ${name}\nVersion: ${version}\n`,
    [`${name}-${version}.dist-info/WHEEL`]: 'Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    [`${name}-${version}.dist-info/RECORD`]: '',
  })
  const file = join(wheels, `${name}-${version}-py3-none-any.whl`)
  const parts = [name, `${name}-${version}.dist-info`]
  execFileSync('python3', ['-m', 'zipfile', '-c', file, ...parts], { cwd: tree.directory })
  await tree.remove()
}

let place: Awaited<ReturnType<typeof makeDirectory>>
let cache = ''
let lines: string[] = []
beforeEach(async () => {
  place = await makeDirectory({ 'models/m/1/model.py': '', 'models/n/1/model.py': '' })
  cache = join(place.directory, 'cache')
  lines = []
})
afterEach(() => place.remove())

function ask(change: Partial<EnvironmentRequest> = {}, model = 'm'): EnvironmentRequest {
  return {
    modelDirectory: join(place.directory, 'models', model),
    versionDirectory: join(place.directory, 'models', model, '1'),
    root: join(place.directory, 'models'),
    parameters: {},
    settings: { 'python-executable': base },
    cacheDirectory: cache,
    log: (level, text) => void lines.push(`${level} ${text}`),
    signal: undefined,
    ...change,
  }
}
const named = (path: string, change: Partial<EnvironmentRequest> = {}, model = 'm') =>
  ask({ parameters: { EXECUTION_ENV_PATH: { string_value: path } }, ...change }, model)
const offline = (text: string) => `--no-index\n--find-links ${wheels}\n${text}\n`
const versionOf = (python: string, module = 'conchling') =>
  execFileSync(python, ['-c', `import ${module}; print(${module}.__version__)`], { encoding: 'utf8' }).trim()
const logged = (text: string) => lines.filter((line) => line.includes(text))
/** Directories that hold an environment, finished or not. */
async function listMade() {
  const entries = existsSync(cache) ? await readdir(cache) : []
  const inner = await Promise.all(entries.map((entry) => readdir(join(cache, entry))))
  return inner.flat().filter((name) => /^[\da-f]{8}$/.test(name))
}

describe('without an environment', () => {
  it('uses the server’s Python', async () => {
    const { python, env, describe: text } = await prepareEnvironment(ask())
    expect(versionOf(python, 'numpy')).toBe('9.9.9')
    expect(env).toEqual({})
    expect(text).toMatch(/^Python 3\.\d+\.\d+$/)
    expect(existsSync(cache)).toBe(false)
  })

  it('says what it lacks before anything is started', async () => {
    const needs = [{ module: 'no_such_torch', install: 'torch', title: 'PyTorch' }]
    await expect(prepareEnvironment(ask({ needs }))).rejects.toThrow(
      /^this model needs PyTorch, which the server's Python 3\.\S+ does not have: python3 -m pip install torch, or/,
    )
    const without = join(place.directory, 'bare')
    execFileSync('python3', ['-m', 'venv', '--without-pip', without])
    const settings = { 'python-executable': join(without, 'bin', 'python') }
    await expect(prepareEnvironment(ask({ settings }))).rejects.toThrow(/^Python models need numpy, which the server's/)
    await expect(prepareEnvironment(ask({ settings: { 'python-executable': '/no/python' } }))).rejects.toThrow(
      "the interpreter '/no/python' does not run",
    )
  })

  it('finds by itself what was installed meanwhile', async () => {
    const file = join(place.directory, 'python')
    const say = (numpy: boolean) =>
      writeFile(file, `#!/bin/sh\necho '["${file}", "3.11.1", "b", ${numpy}, []]'\n`, { mode: 0o755 })
    await say(false)
    await expect(prepareEnvironment(ask({ settings: { 'python-executable': file } }))).rejects.toThrow('numpy')
    await say(true)
    expect((await prepareEnvironment(ask({ settings: { 'python-executable': file } }))).describe).toBe('Python 3.11.1')
  })

  it('compares the version with what the model’s files ask for', async () => {
    await place.put('models/m/.python-version', '2.7\n')
    await expect(prepareEnvironment(ask())).rejects.toThrow(
      /^\.python-version of the model asks for Python 2\.7, which the server's Python 3\S+ is not: name another with/,
    )
    await place.put('models/m/.python-version', '3\n')
    await place.put('models/m/1/pyproject.toml', '[project]\nrequires-python = ">=3.99"\n')
    await expect(prepareEnvironment(ask())).rejects.toThrow('pyproject.toml of the model asks for Python >=3.99')
    const old = join(place.directory, 'old')
    await writeFile(old, `#!/bin/sh\necho '["${old}", "3.8.18", "b", true, []]'\n`, { mode: 0o755 })
    await expect(prepareEnvironment(ask({ settings: { 'python-executable': old } }))).rejects.toThrow(
      "Python models need Python 3.9 or newer, but the server's Python 3.8.18 is older",
    )
  })
})

describe('requirements.txt', () => {
  it('is installed once, for all models that say the same', { timeout: 120_000 }, async () => {
    await place.put('models/m/requirements.txt', offline('conchling==1.0'))
    await place.put('models/n/1/requirements.txt', offline('conchling==1.0'))
    const [one, two] = await Promise.all([prepareEnvironment(ask()), prepareEnvironment(ask({}, 'n'))])
    expect(one).toEqual(two)
    expect(versionOf(one.python)).toBe('1.0')
    // Nobody wrote it down, but every model needs it.
    expect(versionOf(one.python, 'numpy')).toBe('9.9.9')
    expect(one.env['VIRTUAL_ENV']).toContain(cache)
    expect(one.env['PATH']).toMatch(new RegExp(`^${one.env['VIRTUAL_ENV']}/bin:`))
    expect(one.describe).toMatch(/ of requirements\.txt$/)
    expect(logged('Successfully installed conchling-1.0')).toHaveLength(1)
    expect(logged('another model is making the same environment')).toHaveLength(1)
    expect(await listMade()).toHaveLength(1)

    lines = []
    expect((await prepareEnvironment(ask())).python).toBe(one.python)
    expect(logged('info ')).toEqual([])

    await place.put('models/m/requirements.txt', offline('conchling==2.0'))
    const changed = await prepareEnvironment(ask())
    expect(versionOf(changed.python)).toBe('2.0')
    expect(versionOf(one.python)).toBe('1.0')
  })

  it('makes nothing when the server’s Python has it all', { timeout: 60_000 }, async () => {
    await place.put('models/m/requirements.txt', 'numpy>=9\n')
    const { env } = await prepareEnvironment(ask())
    expect(env).toEqual({})
    expect(logged('has everything that requirements.txt asks for')).toHaveLength(1)
    expect(await listMade()).toEqual([])
  })

  it('fails the load with the last lines of the installer, and leaves nothing', { timeout: 60_000 }, async () => {
    await place.put('models/m/requirements.txt', offline('conchling==3.0'))
    const failed = prepareEnvironment(ask())
    await expect(failed).rejects.toThrow('the environment of requirements.txt was not made: pip install ended with 1')
    await expect(failed).rejects.toThrow('No matching distribution found for conchling==3.0')
    await expect(failed).rejects.not.toThrow(place.directory)
    expect(await listMade()).toEqual([])
    expect(logged('pip install').length + logged('ERROR').length).toBeGreaterThan(0)
  })

  it('is not used when environments are off', async () => {
    await place.put('models/m/requirements.txt', offline('conchling==1.0'))
    const { env } = await prepareEnvironment(ask({ settings: { 'python-executable': base, environments: 'off' } }))
    expect(env).toEqual({})
    expect(logged('requirements.txt is not used: environments=off')).toHaveLength(1)
  })

  it('stops when nobody wants it any more, and leaves nothing', { timeout: 60_000 }, async () => {
    await place.put('models/m/requirements.txt', offline('conchling==1.0'))
    const stop = new AbortController()
    const log: EnvironmentRequest['log'] = (_, text) => {
      if (text.startsWith('making')) setImmediate(() => stop.abort())
    }
    await expect(prepareEnvironment(ask({ log, signal: stop.signal }))).rejects.toMatchObject({ code: 'CANCELLED' })
    expect(await listMade()).toEqual([])
    const [entry = ''] = await readdir(cache)
    expect(await readdir(join(cache, entry))).toEqual([])
    expect(execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })).not.toContain(cache)
  })

  it('runs nothing from a place that others can write to', async () => {
    await mkdir(cache)
    execFileSync('chmod', ['777', cache])
    await place.put('models/m/requirements.txt', offline('conchling==1.0'))
    await expect(prepareEnvironment(ask())).rejects.toThrow('writable by others')
  })
})

describe('uv.lock', () => {
  it('says what to install when there is no uv', async () => {
    await place.put('models/m/uv.lock', 'version = 1\n')
    const PATH = process.env['PATH'] ?? ''
    process.env['PATH'] = '/usr/bin:/bin'
    try {
      await expect(prepareEnvironment(ask())).rejects.toThrow(/^uv\.lock needs uv, .*: install uv \(/)
    } finally {
      process.env['PATH'] = PATH
    }
  })
})

describe('a virtual environment next to the model', () => {
  it('is used as it is, and wins over requirements.txt', async () => {
    execFileSync(base, ['-m', 'venv', '--without-pip', join(place.directory, 'models/m/.venv')])
    await place.put('models/m/requirements.txt', 'nothing-that-there-is')
    await expect(prepareEnvironment(ask())).rejects.toThrow(
      /^Python models need numpy, which Python 3\S+ of the environment '\.venv' does not have/,
    )
    const { version } = JSON.parse(
      execFileSync(base, ['-c', 'import json,sys; print(json.dumps({"version":"%d.%d"%sys.version_info[:2]}))'], {
        encoding: 'utf8',
      }),
    ) as { version: string }
    await place.put(`models/m/.venv/lib/python${version}/site-packages/numpy/__init__.py`, '__version__ = "7"\n')
    const { python, env, describe: text } = await prepareEnvironment(ask())
    expect(versionOf(python, 'numpy')).toBe('7')
    expect(env['VIRTUAL_ENV']).toBe(join(place.directory, 'models/m/.venv'))
    expect(text).toMatch(/ of \.venv$/)
  })
})

describe('EXECUTION_ENV_PATH', () => {
  /** A stand-in for an environment of conda pack: an activate script, an interpreter, and something of its own. */
  async function makePacked(name: string, python = `#!/bin/sh\nexec ${base} "$@"\n`) {
    const directory = join(place.directory, name)
    await mkdir(join(directory, 'bin'), { recursive: true })
    await writeFile(join(directory, 'bin', 'python'), python, { mode: 0o755 })
    await writeFile(join(directory, 'bin', 'activate'), 'export FROM_ACTIVATE="two\nlines"\necho noise\n')
    return directory
  }
  function makeArchive(file: string, directory: string) {
    const path = join(place.directory, 'models', file)
    execFileSync('tar', ['-czf', path, '-C', directory, '.'])
    return path
  }

  it('is unpacked once for all models, and again when it is newer', async () => {
    const archive = makeArchive('env.tar.gz', await makePacked('packed'))
    const path = '$$TRITON_MODEL_DIRECTORY/../env.tar.gz'
    const [one, two] = await Promise.all([prepareEnvironment(named(path)), prepareEnvironment(named(path, {}, 'n'))])
    expect(one).toEqual(two)
    expect(await listMade()).toHaveLength(1)
    const directory = one.env['VIRTUAL_ENV'] ?? ''
    expect(directory).toContain(cache)
    expect(one.env['PATH']).toMatch(new RegExp(`^${directory}/bin:`))
    expect(one.env['LD_LIBRARY_PATH']?.split(':')[0]).toBe(`${directory}/lib`)
    expect(one.env['FROM_ACTIVATE']).toBe('two\nlines')
    expect(one.describe).toMatch(/ of env\.tar\.gz$/)
    expect(logged('unpacked env.tar.gz: ')).toHaveLength(1)

    lines = []
    await prepareEnvironment(named(path))
    expect(logged('info ')).toEqual([])
    await utimes(archive, new Date(), new Date(Date.now() + 5_000))
    expect((await prepareEnvironment(named(path))).env['VIRTUAL_ENV']).not.toBe(directory)
    expect(await listMade()).toHaveLength(2)
  })

  it('takes nothing that a crash left for an environment', async () => {
    makeArchive('env.tar.gz', await makePacked('packed'))
    const whole = await prepareEnvironment(named('../env.tar.gz'))
    const [entry = ''] = await readdir(cache)
    // As if the server had been killed while it unpacked.
    await rm(join(cache, entry, 'ready.json'))
    const gone = execFileSync('sh', ['-c', 'echo $$'], { encoding: 'utf8' }).trim()
    await writeFile(join(cache, entry, 'lock'), JSON.stringify({ host: hostname(), pid: Number(gone), token: 'x' }))
    const again = await prepareEnvironment(named('../env.tar.gz'))
    expect(again.env['VIRTUAL_ENV']).not.toBe(whole.env['VIRTUAL_ENV'])
    expect(await listMade()).toHaveLength(1)
    expect(await readdir(join(cache, entry))).toHaveLength(2)
  })

  it('waits for another server that unpacks the same', async () => {
    makeArchive('env.tar.gz', await makePacked('packed'))
    const first = await prepareEnvironment(named('../env.tar.gz'))
    const [entry = ''] = await readdir(cache)
    const ready = await readFile(join(cache, entry, 'ready.json'))
    await rm(join(cache, entry, 'ready.json'))
    await writeFile(join(cache, entry, 'lock'), '{"host":"elsewhere","pid":1}')
    const log: EnvironmentRequest['log'] = (level, text) => {
      lines.push(`${level} ${text}`)
      if (!text.includes('another server')) return
      void writeFile(join(cache, entry, 'ready.json'), ready).then(() => rm(join(cache, entry, 'lock')))
    }
    expect(await prepareEnvironment(named('../env.tar.gz', { log }))).toEqual(first)
    expect(logged('another server is making this environment')).toHaveLength(1)
  })

  it('removes what nobody has used for long', async () => {
    const old = join(cache, 'a'.repeat(32))
    await mkdir(old, { recursive: true })
    await mkdir(join(cache, 'keep'))
    await utimes(old, new Date(0), new Date(0))
    await utimes(join(cache, 'keep'), new Date(0), new Date(0))
    makeArchive('env.tar.gz', await makePacked('packed'))
    await prepareEnvironment(named('../env.tar.gz'))
    expect(existsSync(old)).toBe(false)
    expect(existsSync(join(cache, 'keep'))).toBe(true)
  })

  it('may be a directory, and drops PYTHONHOME', async () => {
    const directory = await makePacked('models/m/packed')
    process.env['PYTHONHOME'] = '/usr'
    try {
      const { env } = await prepareEnvironment(named('packed'))
      expect(env).toMatchObject({ VIRTUAL_ENV: directory, PYTHONHOME: '' })
    } finally {
      delete process.env['PYTHONHOME']
    }
    await rm(join(directory, 'bin', 'activate'))
    await expect(prepareEnvironment(named('packed'))).rejects.toThrow(
      "Path packed/bin/activate does not exist. The Python environment should contain an 'activate' script.",
    )
  })

  it('goes on when activate fails', async () => {
    await makePacked('models/m/packed')
    await place.put('models/m/packed/bin/activate', 'echo broken >&2; false')
    expect((await prepareEnvironment(named('packed'))).env['VIRTUAL_ENV']).toMatch(/packed$/)
    expect(logged('warning bin/activate of the environment failed: broken')).toHaveLength(1)
  })

  it('stays in the repository unless the operator names another place', async () => {
    const outside = await makePacked('elsewhere/packed')
    execFileSync('ln', ['-s', outside, join(place.directory, 'models/m/link')])
    for (const path of [outside, '$$TRITON_MODEL_DIRECTORY/../../elsewhere/packed', 'link']) {
      await expect(prepareEnvironment(named(path))).rejects.toThrow('lies outside the model repository')
    }
    const settings = { 'environment-directory': join(place.directory, 'elsewhere'), 'python-executable': base }
    expect((await prepareEnvironment(named(outside, { settings }))).env['VIRTUAL_ENV']).toBe(outside)
    await expect(prepareEnvironment(named('missing.tar.gz'))).rejects.toThrow(
      'Failed to get the canonical path for missing.tar.gz.',
    )
    await expect(prepareEnvironment(named('/dev/null'))).rejects.toThrow('outside the model repository')
    execFileSync(base, ['-c', 'import os, sys; os.mkfifo(sys.argv[1])', join(place.directory, 'models/m/pipe')])
    await expect(prepareEnvironment(named('pipe'))).rejects.toThrow('neither a file nor a directory')
  })

  it('refuses an archive that leaves its directory, and removes what was unpacked', async () => {
    const tree = await makePacked('packed')
    await writeFile(join(place.directory, 'marker'), 'x')
    const archive = join(place.directory, 'models', 'bad.tar.gz')
    execFileSync('tar', ['-czPf', archive, '-C', tree, 'bin', '../marker'])
    await expect(prepareEnvironment(named('../bad.tar.gz'))).rejects.toThrow(
      "the archive 'bad.tar.gz' was refused: '../marker' climbs out of it",
    )
    expect(await listMade()).toEqual([])
    await writeFile(archive, 'no archive at all')
    await expect(prepareEnvironment(named('../bad.tar.gz'))).rejects.toThrow('it is no tar.gz file')
  })

  it('stops unpacking when nobody wants it any more', async () => {
    const tree = await makePacked('packed')
    await writeFile(join(tree, 'large'), Buffer.alloc(30_000_000, 1))
    makeArchive('env.tar.gz', tree)
    const stop = new AbortController()
    const log: EnvironmentRequest['log'] = () => stop.abort()
    await expect(prepareEnvironment(named('../env.tar.gz', { log, signal: stop.signal }))).rejects.toMatchObject({
      code: 'CANCELLED',
    })
    expect(await listMade()).toEqual([])
  })

  it('is refused when its Python does not run here, is old, or has no numpy', async () => {
    const say = (version: string, numpy: boolean) => `#!/bin/sh\necho '["/x", "${version}", "b", ${numpy}, []]'\n`
    await makePacked('models/m/other', '\x7fELF of another machine')
    await expect(prepareEnvironment(named('other'))).rejects.toThrow(
      /^the Python of the environment 'other' cannot be used: .*it must be made for the operating system/,
    )
    await makePacked('models/m/none', say('3.11.1', false))
    await expect(prepareEnvironment(named('none'))).rejects.toThrow(
      "Python models need numpy, which Python 3.11.1 of the environment 'none' does not have",
    )
    await makePacked('models/m/old', say('3.6.15', true))
    await expect(prepareEnvironment(named('old'))).rejects.toThrow(
      "Python models need Python 3.9 or newer, but Python 3.6.15 of the environment 'old' is older: make it with another",
    )
    await makePacked('models/m/good', say('3.10.1', true))
    await place.put('models/m/.python-version', '3.12\n')
    await expect(prepareEnvironment(named('good'))).rejects.toThrow(
      '.python-version of the model asks for Python 3.12, which Python 3.10.1 of the environment',
    )
  })
})

/** Asks the real index: `CONCH_TEST_PYPI=1 npx vitest run packages/engine/src/backend/python/environment`. */
describe.runIf(process.env['CONCH_TEST_PYPI'] === '1')('with the real index', () => {
  it('installs from requirements.txt, and from uv.lock with uv', { timeout: 300_000 }, async () => {
    await place.put('models/m/requirements.txt', 'six==1.17.0\n')
    expect(versionOf((await prepareEnvironment(ask())).python, 'six')).toBe('1.17.0')

    const tools = join(place.directory, 'tools')
    execFileSync('python3', ['-m', 'venv', tools])
    execFileSync(join(tools, 'bin', 'pip'), ['install', '-q', 'uv'])
    const PATH = process.env['PATH'] ?? ''
    process.env['PATH'] = `${tools}/bin:${PATH}`
    try {
      const project =
        '[project]\nname = "n"\nversion = "0"\nrequires-python = ">=3.9"\ndependencies = ["six==1.16.0"]\n'
      await place.put('models/n/pyproject.toml', project)
      execFileSync(join(tools, 'bin', 'uv'), ['lock'], { cwd: join(place.directory, 'models/n') })
      const { python, describe: text } = await prepareEnvironment(ask({}, 'n'))
      expect(versionOf(python, 'six')).toBe('1.16.0')
      expect(versionOf(python, 'numpy')).toMatch(/^\d/)
      expect(text).toMatch(/ of uv\.lock$/)
      expect((await readdir(join(place.directory, 'models/n'))).toSorted()).toEqual(['1', 'pyproject.toml', 'uv.lock'])
    } finally {
      process.env['PATH'] = PATH
    }
  })
})
