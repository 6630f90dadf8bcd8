import { link, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { fakeConfig } from '@conch/engine/testing'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { openStand, signUp, signIn, type Stand } from './stand.ts'
import { makeZip, type ZipPart } from './zip.ts'

let stand: Stand
let admin: string
beforeAll(async () => {
  stand = await openStand()
  admin = await signUp(stand)
})
afterAll(() => stand.close())

const tree = async (directory: string) => (await readdir(directory, { recursive: true })).sort()
let before: string[]
beforeEach(async () => {
  before = await tree(stand.repository)
})
/** Nothing of a refused upload reaches the repository, and nothing of it is left in the staging area. */
async function expectUntouched() {
  expect(await tree(stand.repository)).toEqual(before)
  expect(await tree(join(stand.dataDirectory, 'staging'))).toEqual([])
}

const meta = (fields: Record<string, string>) =>
  Object.entries(fields)
    .map(([key, value]) => `${key} ${Buffer.from(value).toString('base64')}`)
    .join(',')
const tus = { 'tus-resumable': '1.0.0' }

async function create(filename: string, length: number, cookie = admin) {
  return stand.ask('/api/uploads', {
    method: 'POST',
    headers: { ...tus, cookie, 'upload-length': String(length), 'upload-metadata': meta({ filename }) },
  })
}
async function upload(filename: string, data: Buffer | string, cookie = admin): Promise<string> {
  const bytes = Buffer.from(data)
  const location = (await create(filename, bytes.byteLength, cookie)).headers.location ?? ''
  const headers = {
    ...tus,
    cookie,
    'upload-offset': '0',
    'content-type': 'application/offset+octet-stream',
    'content-length': String(bytes.byteLength),
  }
  expect((await stand.ask(location, { method: 'PATCH', headers, body: bytes })).status).toBe(204)
  return location.split('/').at(-1) ?? ''
}

interface Inspected {
  id: string
  kind: string
  suggestedName: string
  proposedConfig: string
  files: { path: string; sha256: string }[]
  problems: { message: string; line: number }[]
  warnings: string[]
}
async function inspect(input: unknown): Promise<Inspected> {
  const answer = await stand.call('mutation', 'deploy.inspect', input, admin)
  expect([answer.status, answer.error?.message]).toEqual([200, undefined])
  return answer.data as Inspected
}
const publish = (input: Record<string, unknown>, cookie = admin) =>
  stand.call(
    'mutation',
    'deploy.publish',
    { version: 'next', configText: fakeConfig(), load: true, overwriteConfig: false, ...input },
    cookie,
  )

it('takes a folder to a model that answers, then to its next version', async () => {
  const ids = [
    await upload('config.pbtxt', fakeConfig()),
    await upload('model.fake', 'weights'),
    await upload('labels.txt', 'a\nb\n'),
  ]
  const paths = ['mine/config.pbtxt', 'mine/1/model.fake', 'mine/labels.txt']
  const inspected = await inspect({ files: ids.map((uploadId, i) => ({ uploadId, path: paths[i] })) })
  expect(inspected).toMatchObject({ kind: 'folder', suggestedName: 'mine', proposedConfig: fakeConfig(), warnings: [] })
  expect(inspected.files.map(({ path }) => path)).toEqual(['1/model.fake', 'config.pbtxt', 'labels.txt'])
  const published = await publish({ uploadId: inspected.id, model: 'mine', configText: fakeConfig() })
  expect(published.data).toEqual({ model: 'mine', version: '1', state: 'READY', reason: '' })
  expect(await stand.engine.modelReady('mine', '1')).toBe(true)
  expect((await tree(stand.repository)).filter((path) => path.startsWith('mine'))).toEqual([
    'mine',
    'mine/1',
    'mine/1/model.fake',
    'mine/config.pbtxt',
    'mine/labels.txt',
  ])

  const second = await inspect({ files: [{ uploadId: await upload('model.fake', 'better'), path: 'model.fake' }] })
  const next = await publish({ uploadId: second.id, model: 'mine', configText: fakeConfig('# ours\n') })
  expect(next.data).toEqual({ model: 'mine', version: '2', state: 'READY', reason: '' })
  expect(await readFile(join(stand.repository, 'mine/2/model.fake'), 'utf8')).toBe('better')
  expect(await readFile(join(stand.repository, 'mine/config.pbtxt'), 'utf8')).toBe(fakeConfig())
  expect(await readFile(join(stand.repository, 'mine/labels.txt'), 'utf8')).toBe('a\nb\n')

  const third = await inspect({ files: [{ uploadId: await upload('model.fake', 'best'), path: 'model.fake' }] })
  const taken = await publish({ uploadId: third.id, model: 'mine', version: 2 })
  expect([taken.status, taken.error?.data.conch.message]).toEqual([409, "model 'mine' has a version 2 already"])
  const fixed = await publish({
    uploadId: third.id,
    model: 'mine',
    version: 7,
    configText: fakeConfig('# ours\n'),
    overwriteConfig: true,
  })
  expect(fixed.data).toMatchObject({ version: '7', state: 'READY' })
  expect(await readFile(join(stand.repository, 'mine/config.pbtxt'), 'utf8')).toBe(fakeConfig('# ours\n'))
  expect(await tree(join(stand.dataDirectory, 'staging'))).toEqual([])
  expect(await tree(join(stand.dataDirectory, 'uploads'))).toEqual([])

  expect(
    (await stand.call('mutation', 'models.deleteVersion', { model: 'mine', version: '7' }, admin)).data,
  ).toMatchObject({ state: 'READY' })
  expect(await stand.engine.modelReady('mine', '7')).toBe(false)
  expect((await stand.call('mutation', 'models.deleteVersion', { model: 'mine', version: '..' }, admin)).status).toBe(
    400,
  )
  expect((await stand.call('mutation', 'models.removeModel', { model: 'mine' }, admin)).status).toBe(200)
  expect((await tree(stand.repository)).filter((path) => path.startsWith('mine'))).toEqual([])
  expect((await readdir(join(stand.dataDirectory, 'trash'))).map((name) => name.replace(/^.*Z-/, ''))).toEqual([
    'mine-7',
    'mine',
  ])
})

it('unpacks an archive, from inside its outer folder and without the junk of desktops', async () => {
  const zip = makeZip([
    { name: 'net/' },
    { name: 'net/3/model.fake', data: 'x' },
    { name: 'net/config.pbtxt', data: fakeConfig() },
    { name: '__MACOSX/net/._x', data: 'junk' },
    { name: 'net/.DS_Store', data: 'junk' },
  ])
  const inspected = await inspect({ uploadId: await upload('whatever.zip', zip) })
  expect(inspected).toMatchObject({ kind: 'zip', suggestedName: 'net' })
  expect(inspected.files.map(({ path }) => path)).toEqual(['3/model.fake', 'config.pbtxt'])
  expect((await stand.call('mutation', 'deploy.discard', { uploadId: inspected.id }, admin)).status).toBe(200)
  await expectUntouched()
})

const BAD: Record<string, readonly ZipPart[]> = {
  'climbs out': [{ name: '1/ok' }, { name: '../conch_marker', data: 'x' }],
  'climbs out further in': [{ name: 'a/../../conch_marker', data: 'x' }],
  'names an absolute path': [{ name: '/tmp/conch_marker', data: 'x' }],
  'climbs by backslashes': [{ name: '..\\conch_marker', data: 'x' }],
  'names a drive': [{ name: 'C:/conch_marker', data: 'x' }],
  'holds a link': [
    { name: 'link', data: '/etc', mode: 0o120777 },
    { name: 'link/conch_marker', data: 'x' },
  ],
  'holds a device': [{ name: 'pipe', mode: 0o010644 }],
  'is encrypted': [{ name: 'model.onnx', data: 'x', encrypted: true }],
  'holds a file twice': [
    { name: 'config.pbtxt', data: 'x' },
    { name: 'config.pbtxt', data: 'y' },
  ],
  'holds two files that differ by case': [
    { name: '1/m', data: 'x' },
    { name: 'config.pbtxt', data: 'x' },
    { name: 'Config.pbtxt', data: 'y' },
  ],
  'lies about its size': [{ name: 'model.onnx', data: Buffer.alloc(4_000_000), claims: 10 }],
  'unpacks to far more than it is': [{ name: 'model.onnx', data: Buffer.alloc(90_000_000) }],
  'is too deep': [{ name: `${'a/'.repeat(1000)}m`, data: 'x' }],
  'has a name that is too long': [{ name: 'a'.repeat(5000), data: 'x' }],
  'holds a control character': [{ name: 'a\nb', data: 'x' }],
  'holds nothing': [],
  'has too many entries': Array.from({ length: 5001 }, (_, i) => ({ name: `f${i}` })),
}
it.each(Object.entries(BAD))('refuses an archive that %s, whole', async (_what, parts) => {
  const uploadId = await upload('bad.zip', makeZip(parts))
  const answer = await stand.call('mutation', 'deploy.inspect', { uploadId }, admin)
  expect([answer.status, answer.error?.data.conch.code]).toEqual([400, 'INVALID_ARG'])
  expect(answer.text).not.toContain(stand.base)
  await expectUntouched()
  expect(await tree(join(stand.dataDirectory, 'uploads'))).toEqual([])
})

it('refuses an archive that is none, and one that is cut', async () => {
  const whole = makeZip([{ name: '1/model.fake', data: 'x'.repeat(10_000) }])
  for (const data of [Buffer.from('PK\x03\x04 not really'), whole.subarray(0, whole.byteLength - 30)]) {
    const answer = await stand.call('mutation', 'deploy.inspect', { uploadId: await upload('bad.zip', data) }, admin)
    expect(answer.status).toBe(400)
  }
  const text = await stand.call('mutation', 'deploy.inspect', { uploadId: await upload('notes.doc', 'hello') }, admin)
  expect(text.error?.data.conch.message).toContain('neither an .onnx file nor a .zip')
  await expectUntouched()
})

it.each(['../x', '/etc/x', 'a/../../x', 'a\\b', 'C:/x', '', 'a//b', './a', 'a\u0000b'])(
  'refuses the folder path %j',
  async (path) => {
    const uploadId = await upload('model.fake', 'x')
    const answer = await stand.call('mutation', 'deploy.inspect', { files: [{ uploadId, path }] }, admin)
    expect(answer.status).toBe(400)
    await expectUntouched()
  },
)

it('uses nothing of an upload that broke off, keeps it resumable, and never in the repository', async () => {
  const location = (await create('model.onnx', 1_000_000)).headers.location ?? ''
  const head = `PATCH ${location} HTTP/1.1\r\nHost: ${stand.host}\r\nCookie: ${admin}\r\nTus-Resumable: 1.0.0\r\nUpload-Offset: 0\r\nContent-Type: application/offset+octet-stream\r\nContent-Length: 1000000\r\n\r\n`
  await new Promise<void>((resolve) => {
    const socket = connect(stand.port, '127.0.0.1', () =>
      socket.write(head + 'x'.repeat(400_000), () => socket.destroy()),
    )
    socket.on('close', () => resolve())
  })
  const answer = await stand.call('mutation', 'deploy.inspect', { uploadId: location.split('/').at(-1) }, admin)
  expect([answer.status, answer.error?.data.conch.code]).toEqual([503, 'UNAVAILABLE'])
  const state = await stand.ask(location, { method: 'HEAD', headers: { ...tus, cookie: admin } })
  expect(Number(state.headers['upload-offset'])).toBeLessThan(1_000_000)
  await expectUntouched()
  expect((await stand.ask(location, { method: 'DELETE', headers: { ...tus, cookie: admin } })).status).toBe(204)
})

it('takes uploads only from editors, hands none out, and says no early to what is too large', async () => {
  const operator = await signIn(stand, admin, 'operator')
  expect((await create('model.onnx', 1, operator)).status).toBe(403)
  expect((await create('model.onnx', 1, '')).status).toBe(401)
  const id = await upload('model.onnx', 'x')
  expect((await stand.ask(`/api/uploads/${id}`, { headers: { cookie: admin } })).status).toBe(405)
  expect((await create('model.onnx', 2 ** 50)).status).toBe(413)
  const traversal = await stand.ask('/api/uploads/..%2f..%2fconch.db', {
    method: 'HEAD',
    headers: { ...tus, cookie: admin },
  })
  expect(traversal.status).toBe(404)
  const small = await openStand({ admin: { maxUploadBytes: 10 } })
  const cookie = await signUp(small)
  const answer = await small.ask('/api/uploads', { method: 'POST', headers: { ...tus, cookie, 'upload-length': '11' } })
  expect(answer.status).toBe(413)
  await small.close()
})

it.each(['..', '.hidden', 'a/b', 'a\\b', '', 'a b', 'ü', 'a\u200bb', 'x'.repeat(129), '-rf', '$(id)'])(
  'refuses the model name %j',
  async (model) => {
    const answer = await publish({ uploadId: '0'.repeat(32), model })
    expect(answer.status).toBe(400)
    await expectUntouched()
  },
)

it('refuses a name that differs from another by case only', async () => {
  const { id } = await inspect({ files: [{ uploadId: await upload('model.fake', 'x'), path: 'model.fake' }] })
  const answer = await publish({ uploadId: id, model: 'ONE' })
  expect([answer.status, answer.error?.data.conch.message]).toEqual([
    409,
    "the repository holds 'one' already; choose a name that differs by more than case",
  ])
  await stand.call('mutation', 'deploy.discard', { uploadId: id }, admin)
  await expectUntouched()
})

it('publishes nothing with a config that has errors, and shows each with its place', async () => {
  const { id } = await inspect({ files: [{ uploadId: await upload('model.fake', 'x'), path: 'model.fake' }] })
  const answer = await publish({ uploadId: id, model: 'broken', configText: 'backend: "fake"\nmax_batch_sise: 4\n' })
  expect([answer.status, answer.error?.data.conch.code]).toEqual([400, 'INVALID_ARG'])
  expect(answer.error?.data.conch.problems).toMatchObject([
    { severity: 'error', line: 2, fix: { title: expect.any(String) as string } },
  ])
  await stand.call('mutation', 'deploy.discard', { uploadId: id }, admin)
  await expectUntouched()
})

it('says why a published version does not load, and the old one goes on', async () => {
  stand.backend.onLoad = (_config, { version }) => {
    if (version === '2') throw new Error('these weights are broken')
  }
  const { id } = await inspect({ files: [{ uploadId: await upload('model.fake', 'x'), path: 'model.fake' }] })
  const answer = await publish({ uploadId: id, model: 'one' })
  stand.backend.onLoad = () => undefined
  expect(answer.data).toMatchObject({
    version: '2',
    reason: expect.stringContaining('these weights are broken') as string,
  })
  expect(await stand.engine.modelReady('one', '1')).toBe(true)
  await stand.call('mutation', 'models.deleteVersion', { model: 'one', version: '2' }, admin)
})

it('refuses a second change of the same model while one runs', async () => {
  const staged = await Promise.all(
    ['a', 'b'].map(async (data) =>
      inspect({ files: [{ uploadId: await upload('model.fake', data), path: 'model.fake' }] }),
    ),
  )
  const answers = await Promise.all(staged.map(({ id }) => publish({ uploadId: id, model: 'raced', version: 1 })))
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409])
  for (const { id } of staged) await stand.call('mutation', 'deploy.discard', { uploadId: id }, admin)
  await stand.call('mutation', 'models.removeModel', { model: 'raced' }, admin)
  await expectUntouched()
})

it('shows no file behind a link that leaves the model, and tells missing from outside by nothing', async () => {
  await writeFile(join(stand.base, 'secret.txt'), 'secret')
  await symlink(join(stand.base, 'secret.txt'), join(stand.repository, 'one', 'notes.txt'))
  await link(join(stand.base, 'secret.txt'), join(stand.repository, 'one', 'plain.txt'))
  const ask = (path: string) => stand.call('query', 'models.file', { model: 'one', path }, admin)
  expect((await ask('plain.txt')).data).toBe('secret')
  const [outside, missing] = [await ask('notes.txt'), await ask('other.txt')]
  expect([outside.status, missing.status]).toEqual([404, 404])
  expect(outside.error?.data.conch.message.replace('notes', 'other')).toBe(missing.error?.data.conch.message)
  for (const path of [
    '../two/config.pbtxt',
    '/etc/hostname',
    '..',
    'a/../../two/config.pbtxt',
    '../samples/../../secret.txt',
  ]) {
    expect((await ask(path)).status).toBe(400)
  }
  expect((await stand.call('query', 'models.file', { model: '..', path: 'secret.txt' }, admin)).status).toBe(400)
})

it('leaves nothing behind and says so when the repository cannot be written', async () => {
  const { id } = await inspect({ files: [{ uploadId: await upload('model.fake', 'x'), path: 'model.fake' }] })
  // A file where the work folder must be: root may write anywhere, so permissions would not stop it.
  await writeFile(join(stand.repository, '.conch'), '')
  const answer = await publish({ uploadId: id, model: 'nowhere' })
  expect(answer.status).toBeGreaterThanOrEqual(500)
  expect(answer.text).not.toContain(stand.base)
  expect((await tree(stand.repository)).filter((path) => path.startsWith('nowhere'))).toEqual([])
})

it('removes what a crash left in the work folder', async () => {
  const other = await openStand()
  await mkdir(join(other.repository, '.conch', '999999999-abc'), { recursive: true })
  const again = await openStand({ admin: { serve: { repositories: [other.repository], controlMode: 'explicit' } } })
  expect(await readdir(other.repository)).toEqual(['one', 'two'])
  await again.close()
  await other.close()
})
