import { afterEach, beforeEach, expect, it } from 'vitest'
import { makeDirectory } from '../../../testing.ts'
import { isWanted, readWantedVersions } from './wanted-version.ts'

let place: Awaited<ReturnType<typeof makeDirectory>>
beforeEach(async () => {
  place = await makeDirectory({})
})
afterEach(() => place.remove())

it.each([
  ['3.11.7', '>=3.9', true],
  ['3.8.18', '>=3.9', false],
  ['3.13.0', '<3.13', false],
  ['3.12.9', '<3.13', true],
  ['3.11.7', '==3.11.*', true],
  ['3.1.7', '==3.11.*', false],
  ['3.11.7', '==3.11', false],
  ['3.11.0', '==3.11', true],
  ['3.11.7', '~=3.10', true],
  ['4.0.0', '~=3.10', false],
  ['3.11.7', '~=3.11.8', false],
  ['3.11.9', '~=3.11.8', true],
  ['3.12.0', '~=3.11.8', false],
  ['3.9.0', '!=3.9.0', false],
  ['3.9.1', '!=3.9.*', false],
  ['3.10.0', '>3.9', true],
  ['3.9.0', '<=3.9', true],
  ['3.11.7', 'whatever', true],
])('%s against %s: %s', (version, specifier, expected) => {
  expect(isWanted(version, { specifiers: [specifier] })).toBe(expected)
})

it('reads what the files next to a model say', async () => {
  await place.put('.python-version', '# pinned\n3.11.4\n')
  await place.put(
    'pyproject.toml',
    '[build-system]\nrequires-python = "no"\n\n[project]\nname = "m"\nrequires-python = ">=3.9, <4"\n',
  )
  await place.put('uv.lock', 'version = 1\nrequires-python = ">=3.12"\n\n[[package]]\nname = "m"\n')
  const found = await readWantedVersions([place.directory])
  expect(found).toEqual([
    { file: '.python-version', text: '3.11.4', specifiers: ['==3.11.*'] },
    { file: 'pyproject.toml', text: '>=3.9, <4', specifiers: ['>=3.9', '<4'] },
    { file: 'uv.lock', text: '>=3.12', specifiers: ['>=3.12'] },
  ])
})

it('takes what is no version for nothing', async () => {
  await place.put('.python-version', 'pypy3.10-7.3\n')
  await place.put('pyproject.toml', '[tool.x]\nrequires-python = ">=9"\n')
  expect(await readWantedVersions([place.directory, `${place.directory}/missing`])).toEqual([])
})
