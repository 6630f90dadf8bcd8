import { existsSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { UP_FLAGS } from '../apps/server/src/flags.ts'
import { type Code, CODE_TEXT, GRPC_STATUS, HTTP_STATUS } from '../packages/protocol/src/index.ts'
import { readCapabilities, readExpectedFailures } from './behaviours.ts'
import { fill, renderDocuments } from './generate.ts'
import { git, listFiles, readText, root } from './repository.ts'

/** The cells of every table row below `heading`, heads and rules left out. */
function readTable(document: string, heading: string): readonly (readonly string[])[] {
  const [, part = ''] = `\n${document}`.split(`\n${heading}\n`)
  const rows = part.split(/\n#{1,3} /)[0]?.match(/^\|.*\|$/gm) ?? []
  return rows.slice(2).map((row) =>
    row
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((text) => text.trim()),
  )
}
const unquote = (text = ''): string => text.replaceAll('`', '')

describe('errors.md', () => {
  const rows = readTable(readText('docs/errors.md'), '# Errors').map((cells) => cells.map(unquote))
  const codes = Object.keys(HTTP_STATUS) as Code[]

  it('has every code once, and no other', () => {
    expect(rows.map(([code]) => code).toSorted()).toEqual(codes.toSorted())
  })
  it.each(codes)('%s has its two faces and its spelling', (code) => {
    const row = rows.find(([name]) => name === code)
    expect(row?.slice(1, 4)).toEqual([String(HTTP_STATUS[code]), String(GRPC_STATUS[code]), CODE_TEXT[code]])
    expect(row?.[4]).toMatch(/\w{3}/)
  })
})

describe('compat.md', () => {
  const compat = readText('docs/compat.md')
  // The settings of single backends follow in a table of their own.
  const flags = readTable(compat, '## Flags').filter(([flag = '']) => /^`--[\w-]+`$/.test(flag))

  it('lists the flags that the server has', () => {
    expect(flags.map(([flag]) => unquote(flag))).toEqual(UP_FLAGS.map(({ name }) => `--${name}`))
  })
  it('names a test for each flag that names it or reads it', () => {
    const files = new Set(flags.map(([, , , test]) => unquote(test)))
    expect([...files].filter((file) => !existsSync(path.join(root, file)))).toEqual([])
    const foreign = flags.filter(([flag, , , test = '']) => {
      return test.includes('/conformance/') && !readText(unquote(test)).includes(unquote(flag))
    })
    expect(foreign).toEqual([])
  })
  it('promises what each test of the conformance suite says', () => {
    const tests = readCapabilities().flatMap(({ file, behaviours }) => behaviours.map(({ test }) => ({ file, test })))
    const functions = listFiles('apps/server/test/conformance/test_*.py').flatMap(
      (file) => readText(file).match(/^def test_\w+/gm) ?? [],
    )
    expect(tests.length).toBe(functions.length)
    expect(tests.filter(({ test }) => !compat.includes(`| \`${test}\` |`))).toEqual([])
    expect(compat).not.toMatch(/^\| *\|/m)
  })
})

describe('drawn documents', async () => {
  const wanted = await renderDocuments()
  it.each(Object.keys(wanted))('%s is what "npm run docs" writes', (file) => {
    expect(readText(file)).toBe(wanted[file])
  })
  it('need their marks', () => {
    expect(fill('a\n<!-- x -->\nold\n<!-- /x -->\nb', 'x', 'new')).toBe('a\n<!-- x -->\nnew\n<!-- /x -->\nb')
    expect(() => fill('a', 'x', 'new')).toThrow('marks of "x"')
  })
})

describe('expected failures', () => {
  const file = 'apps/server/test/conformance/expected-failures.txt'
  const readIds = (text: string): readonly string[] =>
    text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))

  it('are read with their reasons', () => {
    expect(readExpectedFailures('# why\nt.py::a[1]\nt.py::a[2]\n\n# other\nt.py::b\n')).toEqual(
      new Map([
        ['t.py::a', { cases: 2, reason: 'why', whole: false }],
        ['t.py::b', { cases: 1, reason: 'other', whole: true }],
      ]),
    )
  })
  it('only shrink, commit by commit', () => {
    const commits = git('log', '--reverse', '--format=%h', '--', file).split('\n').filter(Boolean)
    const lists = commits.map((commit) => ({ commit, ids: readIds(git('show', `${commit}:${file}`)) }))
    lists.push({ commit: 'working tree', ids: readIds(readText(file)) })
    // The suite came with an empty list; the first one that has lines is where shrinking begins.
    const begun = lists.slice(lists.findIndex(({ ids }) => ids.length > 0))
    const grown = begun.slice(1).flatMap(({ commit, ids }, index) => {
      const before = new Set(begun[index]?.ids)
      return ids.filter((id) => !before.has(id)).map((id) => `${commit} adds ${id}`)
    })
    expect(grown).toEqual([])
  })
})

/** Titles that came before this check ran on every change; history is not rewritten for them. */
const EARLIER = new Set([
  "feat(admin): root router, schemas, accounts, sessions and the console's database",
  'feat(admin): read what an ONNX file declares, and tests of models and live',
])

describe('house rules', () => {
  it('numbers the decisions without gaps, each with its three parts', () => {
    const files = listFiles('docs/adr/*.md').toSorted()
    expect(files.length).toBeGreaterThan(0)
    files.forEach((file, index) => {
      expect(path.basename(file)).toMatch(new RegExp(`^${String(index + 1).padStart(4, '0')}-[a-z0-9-]+\\.md$`))
      for (const part of ['## Context', '## Choice', '## Price']) expect(readText(file)).toContain(part)
    })
  })
  it('keeps ARCHITECTURE.md on a few screens', () => {
    expect(readText('ARCHITECTURE.md').split('\n').length).toBeLessThanOrEqual(200)
  })
  it('links to files that exist', () => {
    const broken = listFiles('*.md', 'docs/**/*.md').flatMap((file) =>
      [...readText(file).matchAll(/\]\((?!https?:|#)([^)#\s]+)[^)]*\)/g)]
        .map(([, target = '']) => path.join(path.dirname(file), target))
        .filter((target) => !existsSync(path.join(root, target)))
        .map((target) => `${file} → ${target}`),
    )
    expect(broken).toEqual([])
  })
  it('titles every commit for a reader', () => {
    const form = /^(feat|fix|perf|refactor|test|docs|build|ci|chore)\([a-z0-9-]+\): .{1,60}$/
    const titles = git('log', '--no-merges', '--format=%s')
      .split('\n')
      .filter((title) => title !== '' && !EARLIER.has(title))
    expect(titles.filter((title) => !form.test(title) || title.length > 72)).toEqual([])
  })
  it('has no folder or file that is everybody’s', () => {
    const junk = listFiles('apps', 'packages').filter((file) =>
      /\/(utils?|helpers?|common|misc|shared|lib)(\/|\.[jt]sx?$)/.test(file),
    )
    expect(junk).toEqual([])
  })
})
