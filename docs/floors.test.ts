import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { listFiles, readText } from './repository.ts'

interface LockEntry {
  readonly version?: string
  readonly license?: string
  readonly link?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}
interface Manifest {
  readonly [field: string]: unknown
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const lock = JSON.parse(readText('package-lock.json')) as { packages: Record<string, LockEntry> }
const installed = Object.entries(lock.packages)
  .filter(([where, entry]) => where.includes('node_modules/') && entry.link !== true)
  .map(([where, entry]) => ({ name: where.replace(/^.*node_modules\//, ''), ...entry }))

/** Below these versions a published weakness is open; a package that is not installed has nothing to meet. */
const floors = JSON.parse(readText('docs/floors.json')) as Record<string, string>

function isBelow(version: string, floor: string): boolean {
  const [have, need] = [version, floor].map((text) => text.split(/[.+-]/).slice(0, 3).map(Number))
  if (have === undefined || need === undefined) throw new TypeError(`not a version: ${version}`)
  const at = need.findIndex((part, index) => part !== have[index])
  return at >= 0 && (have[at] ?? 0) < (need[at] ?? 0)
}

describe('version floors', () => {
  it.each([
    ['1.2.3', '1.2.3', false],
    ['1.2.2', '1.2.3', true],
    ['1.10.0', '1.9.9', false],
    ['2.0.0', '1.9.9', false],
    ['0.35.4', '0.35.5', true],
  ])('%s below %s: %s', (version, floor, below) => {
    expect(isBelow(version, floor)).toBe(below)
  })

  it('are met by every installed copy', () => {
    expect(installed.length).toBeGreaterThan(100)
    const low = installed.filter(({ name, version = '' }) => isBelow(version, floors[name] ?? '0.0.0'))
    expect(low.map(({ name, version }) => `${name} ${version} < ${floors[name]}`)).toEqual([])
  })

  it('name packages that Conch has, apart from what is still to come', () => {
    const names = new Set(installed.map(({ name }) => name))
    expect(Object.keys(floors).filter((name) => !names.has(name))).toEqual(['@grpc/grpc-js', 'protobufjs'])
  })
})

/** Where Node would look for `name` from a package at `where`. */
function findLocked(where: string, name: string): string | undefined {
  const folders = where.split('/')
  const places = folders.map((_, index) => folders.slice(0, folders.length - index).join('/'))
  return [...places, ''].map((place) => path.join(place, 'node_modules', name)).find((file) => file in lock.packages)
}

it('locks every package that another one asks for', () => {
  // `npm ci` refuses a lock with a hole, even where the package is optional and for another system.
  const holes = Object.entries(lock.packages).flatMap(([where, entry]) =>
    Object.keys({ ...entry.dependencies, ...entry.optionalDependencies })
      .filter((name) => findLocked(where, name) === undefined)
      .map((name) => `${where} → ${name}`),
  )
  expect(holes).toEqual([])
})

it('pins every dependency exactly', () => {
  const loose: string[] = []
  for (const file of listFiles('package.json', '*/*/package.json')) {
    const manifest = JSON.parse(readText(file)) as Manifest
    const wanted = { ...manifest.dependencies, ...manifest.devDependencies, ...manifest.optionalDependencies }
    for (const [name, version] of Object.entries(wanted))
      if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)) loose.push(`${file}: ${name}@${version}`)
  }
  expect(loose).toEqual([])
})

it('pins every Python requirement exactly', () => {
  const lines = listFiles('*requirements*.txt').flatMap((file) => readText(file).split('\n'))
  const wanted = lines.filter((line) => line.trim() !== '' && !line.startsWith('#'))
  expect(wanted.length).toBeGreaterThan(0)
  expect(wanted.filter((line) => !/^[\w.-]+(\[[\w,]+\])?==[\w.]+$/.test(line))).toEqual([])
})

/** Licences that ask for no more than their own text. */
const FREE = new Set(
  ['MIT', 'Apache-2.0', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'Unlicense', 'BlueOak-1.0.0'].concat([
    'CC0-1.0',
    'CC-BY-4.0',
    'OFL-1.1',
    'Python-2.0',
    'Zlib',
  ]),
)

/** Others, each with the reason why it may be here; none of them is part of what Conch ships as its own. */
const ALLOWED: readonly (readonly [name: RegExp, licence: string | undefined, reason: string])[] = [
  [
    /^@img\/sharp-/,
    'LGPL-3.0-or-later',
    'optional companion of next, loaded for server-side images, which the static export has none of',
  ],
  [/^lightningcss(-|$)/, 'MPL-2.0', 'builds the style sheet; unchanged, not shipped'],
  [/^(axe-core|@axe-core\/playwright)$/, 'MPL-2.0', 'accessibility check in the journeys; not shipped'],
  [/^elkjs$/, 'EPL-2.0', 'part of the Prisma command line; not shipped'],
  [/^combine-errors$/, undefined, 'MIT by its readme; part of the upload client'],
  [/^seq-queue$/, undefined, 'MIT by its licence file; part of the Prisma command line'],
]

function isFree(licence: string): boolean {
  const text = licence.replace(/^\((.*)\)$/, '$1')
  if (/ OR /.test(text)) return text.split(/ OR /).some(isFree)
  return text.split(/ and /i).every((part) => FREE.has(part))
}

it('depends on packages with known, fitting licences only', () => {
  const odd = installed.filter(({ name, license }) => {
    if (license !== undefined && isFree(license)) return false
    return !ALLOWED.some(
      ([pattern, allowed]) =>
        pattern.test(name) && (allowed === undefined ? license === undefined : (license ?? '').includes(allowed)),
    )
  })
  expect(odd.map(({ name, license }) => `${name}: ${license}`)).toEqual([])
})
