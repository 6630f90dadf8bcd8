import { lstat, mkdir, readFile, readlink, readdir, writeFile } from 'node:fs/promises'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { makeDirectory } from '../../../testing.ts'
import { extractArchive } from './extract-archive.ts'
import { TarReader } from './tar.ts'
import type { TarEntry } from './tar.ts'

let place: Awaited<ReturnType<typeof makeDirectory>>
beforeEach(async () => {
  place = await makeDirectory({ 'root/': '', 'outside/secret': 'secret' })
})
afterEach(() => place.remove())

type Member = Partial<TarEntry> & { name: string; content?: string }

function packMember({ name, type = '0', mode = 0o644, mtime = 1_600_000_000, target = '', content = '' }: Member) {
  const block = Buffer.alloc(512)
  const octal = (value: number, at: number, length: number) =>
    block.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at, 'latin1')
  block.write(name, 0, 100)
  octal(mode, 100, 8)
  octal(Buffer.byteLength(content), 124, 12)
  octal(mtime, 136, 12)
  block.write(type, 156)
  block.write(target, 157, 100)
  block.write('ustar\x0000', 257, 'latin1')
  block.write(' '.repeat(8), 148)
  octal(
    block.reduce((sum, byte) => sum + byte, 0),
    148,
    7,
  )
  const padding = (512 - (Buffer.byteLength(content) % 512)) % 512
  return Buffer.concat([block, Buffer.from(content), Buffer.alloc(padding)])
}

function pack(...members: readonly Member[]): Buffer {
  return Buffer.concat([...members.map(packMember), Buffer.alloc(1024)])
}

async function extract(bytes: Buffer, limits = { entries: 1_000, bytes: 1_000_000 }) {
  const archive = join(place.directory, 'a.tar.gz')
  await writeFile(archive, bytes)
  return extractArchive(archive, join(place.directory, 'root'), { limits, progress: () => undefined })
}

it('unpacks what tar packs: long names, links, modes and times', async () => {
  const source = join(place.directory, 'source')
  const long = `${'d'.repeat(90)}/${'e'.repeat(90)}`
  await mkdir(join(source, long), { recursive: true })
  await mkdir(join(source, 'bin'))
  await writeFile(join(source, long, 'é.txt'), 'deep')
  await writeFile(join(source, 'bin', 'run'), '#!/bin/sh\n', { mode: 0o6755 })
  execFileSync('ln', ['-s', '../bin/run', join(source, 'bin', 'link')])
  execFileSync('ln', [join(source, 'bin', 'run'), join(source, 'bin', 'same')])
  execFileSync('touch', ['-d', '2001-02-03T04:05:06Z', join(source, 'bin', 'run')])
  for (const format of ['gnu', 'pax', 'ustar']) {
    const archive = join(place.directory, `${format}.tar.gz`)
    const into = join(place.directory, format)
    await mkdir(into)
    execFileSync('tar', [`--format=${format}`, '-czf', archive, '-C', source, '.'])
    const limits = { entries: 100, bytes: 100_000 }
    await extractArchive(archive, into, { limits, progress: () => undefined })
    expect(await readFile(join(into, long, 'é.txt'), 'utf8')).toBe('deep')
    expect(await readlink(join(into, 'bin', 'link'))).toBe('../bin/run')
    const run = await lstat(join(into, 'bin', 'run'))
    expect(run.mode & 0o7777).toBe(0o755)
    expect(run.mtime.toISOString()).toBe('2001-02-03T04:05:06.000Z')
    expect((await lstat(join(into, 'bin', 'same'))).ino).toBe(run.ino)
  }
})

it('knows an archive by its first bytes', async () => {
  const tar = pack({ name: 'a', content: 'x' })
  for (const bytes of [tar, gzipSync(tar), zstdCompressSync(tar)]) {
    expect(await extract(bytes)).toEqual({ entries: 1, bytes: 1 })
  }
  await expect(extract(Buffer.from('PK\x03\x04 a zip file'))).rejects.toThrow('it is no tar.gz file')
})

const HOSTILE: readonly (readonly [string, readonly Member[], string])[] = [
  ['a name that climbs', [{ name: '../marker' }], 'climbs out'],
  ['a name that climbs inside', [{ name: 'a/../../marker' }], 'climbs out'],
  ['an absolute name', [{ name: '/tmp/conch_marker' }], 'absolute path'],
  ['a backslash', [{ name: '..\\marker' }], 'backslash'],
  ['a drive', [{ name: 'C:/marker' }], 'absolute path'],
  ['an empty name', [{ name: './', type: '0' }], 'no name'],
  ['a link that climbs', [{ name: 'l', type: '2', target: '../outside' }], 'leaves it'],
  ['an absolute link', [{ name: 'l', type: '2', target: '/etc/hostname' }], 'leaves it'],
  [
    'a file behind a link',
    [{ name: 'd', type: '5' }, { name: 'l', type: '2', target: 'd' }, { name: 'l/marker' }],
    'behind a link',
  ],
  [
    'a link that leaves by another link',
    [
      { name: 'a/b/c', type: '5' },
      { name: 'a/b/c/top', type: '2', target: '../../..' },
      { name: 'a/b/c/out', type: '2', target: 'top/../outside' },
    ],
    'leaves it',
  ],
  ['a hard link outside', [{ name: 'h', type: '1', target: '../outside/secret' }], 'climbs out'],
  ['an absolute hard link', [{ name: 'h', type: '1', target: '/etc/hostname' }], 'absolute path'],
  ['a hard link to nothing', [{ name: 'h', type: '1', target: 'x' }], 'hard link to no file'],
  [
    'a hard link to a link',
    [
      { name: 'bin/python', type: '2', target: '/etc/hostname' },
      { name: 'h', type: '1', target: 'bin/python' },
    ],
    'hard link to no file',
  ],
  ['a device', [{ name: 'dev', type: '3' }], 'no file, directory or link'],
  ['a pipe', [{ name: 'pipe', type: '6' }], 'no file, directory or link'],
  ['a file in the place of a directory', [{ name: 'a', type: '5' }, { name: 'a' }], 'twice'],
  ['a file behind a file', [{ name: 'a' }, { name: 'a/b' }], 'behind a link or a file'],
]

it.each(HOSTILE)('refuses %s', async (_, members, text) => {
  await expect(extract(gzipSync(pack(...members)))).rejects.toThrow(text)
  expect(await readdir(join(place.directory, 'outside'))).toEqual(['secret'])
  expect(await readFile(join(place.directory, 'outside', 'secret'), 'utf8')).toBe('secret')
  expect((await readdir(place.directory)).toSorted()).toEqual(['a.tar.gz', 'outside', 'root'])
})

it('replaces a link by a file of its name instead of writing through it', async () => {
  await writeFile(join(place.directory, 'root-file'), 'mine')
  await extract(
    pack({ name: 'f', content: 'one' }, { name: 'l', type: '2', target: 'f' }, { name: 'l', content: 'two' }),
  )
  expect(await readFile(join(place.directory, 'root', 'f'), 'utf8')).toBe('one')
  expect(await readFile(join(place.directory, 'root', 'l'), 'utf8')).toBe('two')
})

it('lets the interpreter of an environment lie outside, and nothing else', async () => {
  await extract(
    pack(
      { name: 'bin/python3', type: '2', target: '/usr/bin/python3' },
      { name: 'bin/python', type: '2', target: 'python3' },
    ),
  )
  expect(await readlink(join(place.directory, 'root', 'bin', 'python3'))).toBe('/usr/bin/python3')
})

it('stops at its limits, before the bytes are on the disk', async () => {
  const bomb = gzipSync(pack({ name: 'zeros', content: '\0'.repeat(2_000_000) }))
  expect(bomb.length).toBeLessThan(10_000)
  await expect(extract(bomb)).rejects.toThrow('unpacked it is larger than 1000000 bytes')
  expect(await readdir(join(place.directory, 'root'))).toEqual([])
  const many = Array.from({ length: 1_001 }, (_, index) => ({ name: `f${index}` }))
  await expect(extract(pack(...many))).rejects.toThrow('more than 1000 entries')
})

it('tells damaged archives from good ones', async () => {
  const good = gzipSync(pack({ name: 'a', content: 'x'.repeat(5_000) }))
  await expect(extract(good.subarray(0, good.length - 20))).rejects.toThrow('damaged')
  await expect(extract(gzipSync(pack({ name: 'a', content: 'x' }).subarray(0, 600)))).rejects.toThrow(
    'middle of a file',
  )
  await expect(extract(gzipSync(Buffer.alloc(2_000, 7)))).rejects.toThrow('no tar file')
  const sparse = packMember({ name: 'x', type: 'x', content: '31 GNU.sparse.realsize=1000000\n' })
  await expect(extract(Buffer.concat([sparse, pack({ name: 'a' })]))).rejects.toThrow('sparse')
})

it('reads the same entries however the bytes are cut', () => {
  const tar = pack({ name: 'a', content: 'x'.repeat(700) }, { name: 'd/', type: '5' }, { name: 'd/b', content: 'y' })
  const read = (cuts: readonly number[]): string => {
    let told = ''
    const reader = new TarReader({
      open: ({ name, type, size }) => void (told += `${type} ${name} ${size} `),
      data: (bytes) => void (told += Buffer.from(bytes).toString()),
      close: () => void (told += ';'),
    })
    const places = [0, ...cuts.toSorted((a, b) => a - b), tar.length]
    places.slice(1).forEach((end, index) => reader.write(tar.subarray(places[index], end)))
    reader.end()
    return told
  }
  const whole = read([])
  expect(whole).toBe(`0 a 700 ${'x'.repeat(700)};5 d/ 0 ;0 d/b 1 y;`)
  fc.assert(fc.property(fc.array(fc.nat(tar.length)), (cuts) => read(cuts) === whole))
})

it('survives any bytes: refused, or read', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 2_000 }), fc.nat(1_500), (noise, at) => {
      const tar = pack({ name: 'a', content: 'x'.repeat(100) }, { name: 'b' })
      tar.set(noise.subarray(0, Math.max(0, tar.length - at)), at)
      const reader = new TarReader({ open: () => undefined, data: () => undefined, close: () => undefined })
      try {
        reader.write(tar)
        reader.end()
      } catch (error) {
        return error instanceof Error && error.name === 'ConchError'
      }
      return true
    }),
  )
})
