import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { hidePaths, readPythonFailure } from './python-failure.ts'
import type { ModelFolder } from './repositories.ts'

let base: string
let folder: ModelFolder
beforeAll(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'conch-failure-')))
  const directory = join(base, 'models/m')
  folder = { model: 'm', root: { path: join(base, 'models'), display: 'models' }, directory }
  await mkdir(join(directory, '1'), { recursive: true })
  await writeFile(join(directory, '1/model.py'), 'import os\n\n\ndef f():\n    raise ValueError("bad")\n# end\n')
  await writeFile(join(base, 'secret.py'), 'password = 1\n')
})
afterAll(() => rm(base, { recursive: true, force: true }))

it('finds the line of an exception and those around it', async () => {
  const text = `Failed to process the request(s) for model 'm_0_0', message: ValueError: bad, message: none\n\nAt:\n  ${folder.directory}/1/model.py(5): f\n  /usr/lib/python3/site-packages/numpy/core.py(7): sum\n`
  const failure = await readPythonFailure(text.replace(', message: none', ''), folder, '1')
  expect(failure).toEqual({
    message: 'ValueError: bad',
    frames: [
      {
        file: '1/model.py',
        line: 5,
        function: 'f',
        excerpt: { first: 3, lines: ['', 'def f():', '    raise ValueError("bad")', '# end', ''] },
      },
      { file: 'numpy/core.py', line: 7, function: 'sum', excerpt: null },
    ],
  })
  expect(hidePaths(text, folder)).toContain('\n  1/model.py(5): f\n')
})

it('reads the reason of a failed load, of several lines too', async () => {
  const at = `\n\nAt:\n  ${folder.directory}/1/model.py(1): <module>\n`
  const load = `load failed for model 'm': version 1 is at UNAVAILABLE state: Internal: RuntimeError: no\nway${at}`
  expect(await readPythonFailure(load, folder, '1')).toMatchObject({
    message: 'RuntimeError: no\nway',
    frames: [{ file: '1/model.py', line: 1, function: '<module>' }],
  })
})

it('knows a file by its place in the repository', async () => {
  const text = 'E: x\n\nAt:\n  m/1/model.py(2): f\n  m/../../secret.py(1): g\n;\n'
  expect((await readPythonFailure(text, folder, '1'))?.frames).toMatchObject([
    { file: '1/model.py', line: 2, excerpt: { first: 1 } },
    { excerpt: null },
  ])
})

it('finds a syntax error in the version that was asked for', async () => {
  const text = "Internal: SyntaxError: expected ':' (model.py, line 4)"
  expect(await readPythonFailure(text, folder, '1')).toEqual({
    message: "SyntaxError: expected ':'",
    frames: [{ file: '1/model.py', line: 4, function: '', excerpt: expect.objectContaining({ first: 2 }) as object }],
  })
})

it('shows no line of a file outside the model, and nothing for other messages', async () => {
  const at = (path: string) => `E: x\n\nAt:\n  ${path}(1): f\n`
  for (const path of [
    join(base, 'secret.py'),
    `${folder.directory}/../../secret.py`,
    `${folder.directory}/1/../../../secret.py`,
  ]) {
    const [frame] = (await readPythonFailure(at(path), folder, '1'))?.frames ?? []
    expect(frame).toMatchObject({ excerpt: null })
  }
  expect(await readPythonFailure("unexpected shape for input 'x'", folder, '1')).toBeUndefined()
  expect((await readPythonFailure(at('/a/b/c.py'), undefined, ''))?.frames[0]?.file).toBe('b/c.py')
})
