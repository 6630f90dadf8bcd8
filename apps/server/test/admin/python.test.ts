import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fakeConfig } from '@conch/engine/testing'
import { ConchError } from '@conch/protocol'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { PythonCheck } from '../../src/admin/schemas.ts'
import { openStand, signUp, type Stand } from './stand.ts'

let stand: Stand
let admin: string
beforeAll(async () => {
  stand = await openStand()
  admin = await signUp(stand)
})
afterAll(() => stand.close())

const MODEL = 'class TritonPythonModel:\n    def execute(self, requests):\n        return []\n'

async function check(code: string, more: object = {}): Promise<PythonCheck> {
  const answer = await stand.call('mutation', 'deploy.checkPython', { code, ...more }, admin)
  expect([answer.status, answer.error?.message]).toEqual([200, undefined])
  return answer.data as PythonCheck
}
const publish = (input: Record<string, unknown>) =>
  stand.call(
    'mutation',
    'deploy.publishPython',
    { model: 'py', code: MODEL, configText: fakeConfig(), load: true, overwriteConfig: false, ...input },
    admin,
  )
const brief = ({ problems }: PythonCheck) =>
  problems.map(({ severity, line, message }) => `${severity} ${line} ${message}`)

it('finds mistakes in a source without running it', async () => {
  expect(await check(MODEL)).toMatchObject({
    python: expect.stringMatching(/^3\./) as string,
    problems: [],
    note: null,
  })
  const bomb = `import os\nos._exit(3)\n${MODEL}`
  expect(brief(await check(bomb))).toEqual([])
  expect(brief(await check('x = (1\n'))).toEqual(["error 1 SyntaxError: '(' was never closed"])
  expect(brief(await check('return 1'))).toEqual(["error 1 SyntaxError: 'return' outside function"])
  expect(brief(await check('('.repeat(100_000)))[0]).toContain('error 1 ')
  expect(brief(await check('x = "\0"'))[0]).toContain('null bytes')
  expect(brief(await check(''))).toEqual([
    'error 1 there is no class TritonPythonModel: the server makes one for each instance',
  ])
  expect(brief(await check('class TritonPythonModel:\n    pass\n'))).toEqual([
    'error 1 TritonPythonModel has no execute(self, requests): every request would fail',
  ])
  expect(brief(await check(MODEL.replace('requests)', 'requests, more)')))).toEqual([
    'error 2 execute is called with self and one more, but takes 3 arguments',
  ])
  for (const fine of [
    'from elsewhere import TritonPythonModel',
    'TritonPythonModel = make()',
    MODEL.replace('requests)', 'requests, more=1)'),
  ]) {
    expect(brief(await check(fine, { requirements: 'elsewhere' }))).toEqual([])
  }
})

it('marks the place as an editor counts it, astral characters included', async () => {
  const code = `a = "😀é"; b = = 1\n`
  const [problem] = (await check(code)).problems
  expect(problem).toMatchObject({ line: 1, column: 15 })
  expect(code.slice(problem?.from, problem?.to)).toBe('=')
})

it('holds names in the source against the config, and imports against what is installed', async () => {
  const code = `import json\nimport no_such_thing.part\n${MODEL.replace(
    'return []',
    'x = pb_utils.get_input_tensor_by_name(requests[0], "IN")\n        return pb_utils.Tensor("OU", x)',
  )}`
  expect(brief(await check(code, { inputs: ['IN'], outputs: ['OUT'] }))).toEqual([
    'warning 6 the model has no output OU: it is dropped. There are: OUT',
    expect.stringMatching(/^warning 2 no_such_thing is not installed .* requirements\.txt$/),
  ])
  expect(brief(await check(code, { inputs: ['OTHER'], requirements: 'no-such-thing' }))).toEqual([
    'warning 5 the model has no input IN: None comes back. There are: OTHER',
  ])
})

it('publishes what was written as a version, its sibling files with the next one', async () => {
  const first = await publish({ requirements: 'left-pad==1\n' })
  expect(first.data).toEqual({ model: 'py', version: '1', state: 'READY', reason: '' })
  const folder = join(stand.repository, 'py')
  expect(await readFile(join(folder, '1/model.py'), 'utf8')).toBe(MODEL)
  expect(await readFile(join(folder, '1/requirements.txt'), 'utf8')).toBe('left-pad==1\n')
  await writeFile(join(folder, '1/tables.py'), 'A = 1\n')
  expect(brief(await check(`import tables\n${MODEL}`, { model: 'py', basedOn: '1' }))).toEqual([])
  const second = await publish({ code: `import tables\n${MODEL}`, basedOn: '1' })
  expect(second.data).toMatchObject({ version: '2', state: 'READY' })
  expect((await readdir(join(folder, '2'))).sort()).toEqual(['model.py', 'tables.py'])
  expect(await readFile(join(folder, '1/model.py'), 'utf8')).toBe(MODEL)
  expect((await publish({ basedOn: '9' })).error?.data.conch.message).toBe("'py' has no version 9 any more")
  expect(await readdir(join(stand.dataDirectory, 'staging'))).toEqual([])
})

it('refuses a source with mistakes, with their places, and changes nothing', async () => {
  const refused = await publish({ model: 'bad', code: 'def f(:\n' })
  expect(refused.status).toBe(400)
  expect(refused.error?.data.conch.message).toBe('model.py, line 1: SyntaxError: invalid syntax')
  expect(refused.error?.data.conch.problems).toMatchObject([{ line: 1, from: 6 }])
  expect(await readdir(stand.repository)).not.toContain('bad')
})

it('tells where the code of a version failed to load, without the paths of the server', async () => {
  stand.backend.onLoad = (config, { versionDirectory }) => {
    if (config.name !== 'broken') return
    throw new ConchError('INTERNAL', `RuntimeError: no way\n\nAt:\n  ${versionDirectory}/model.py(3): initialize\n`)
  }
  const { data } = await publish({ model: 'broken' })
  const failure = {
    message: 'RuntimeError: no way',
    frames: [{ file: '1/model.py', line: 3, function: 'initialize', excerpt: { first: 1, lines: MODEL.split('\n') } }],
  }
  expect(data).toMatchObject({ version: '1', state: 'UNAVAILABLE', failure })
  expect(JSON.stringify(data)).not.toContain(stand.base)
  const details = await stand.call('query', 'models.get', { model: 'broken' }, admin)
  expect(details.data).toMatchObject({ failures: [{ version: '1', ...failure }] })
  expect(details.text).not.toContain(stand.base)
})

it('says what to do when the server has no Python', async () => {
  const bare = await openStand({
    admin: {
      serve: {
        repositories: [stand.repository],
        controlMode: 'explicit',
        backendConfig: { python: { 'python-executable': '/nowhere/python9' } },
      },
    },
  })
  const cookie = await signUp(bare)
  const { data } = await bare.call('mutation', 'deploy.checkPython', { code: 'x' }, cookie)
  expect(data).toEqual({
    python: null,
    problems: [],
    note: expect.stringMatching(/^'python9' cannot be started on the server; install Python/) as string,
  })
  await bare.close()
})
