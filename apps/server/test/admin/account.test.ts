import { afterAll, beforeAll, expect, it } from 'vitest'
import { openStand, PASSWORD, readCookie, signIn, signUp, type Stand } from './stand.ts'

let stand: Stand
let admin: string

beforeAll(async () => {
  stand = await openStand()
  const before = await stand.call('query', 'account.state')
  expect(before.data).toEqual({ setupNeeded: true, setupTokenNeeded: false, user: null, server: null })
  admin = await signUp(stand)
})
afterAll(() => stand.close())

it('makes the first account an admin, once', async () => {
  const state = await stand.call('query', 'account.state', undefined, admin)
  expect(state.data).toMatchObject({ setupNeeded: false, user: { name: 'root', role: 'admin' } })
  expect(state.data).toMatchObject({ server: { name: 'test', repositories: ['models'], controlMode: 'explicit' } })
  const again = await stand.call('mutation', 'account.setup', { name: 'second', password: PASSWORD })
  expect([again.status, again.error?.data.conch.code]).toEqual([409, 'ALREADY_EXISTS'])
})

it('lets one of two simultaneous first accounts in', async () => {
  const fresh = await openStand()
  const tries = ['a', 'b', 'c'].map((name) => fresh.call('mutation', 'account.setup', { name, password: PASSWORD }))
  expect((await Promise.all(tries)).map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409])
  await fresh.close()
})

it('sets a cookie that scripts and other sites do not get', async () => {
  const answer = await stand.call('mutation', 'account.login', { name: 'root', password: PASSWORD })
  expect(answer.headers['set-cookie']).toEqual([
    expect.stringMatching(/^conch_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=604800$/),
  ])
  expect(answer.text).not.toContain(readCookie(answer).split('=')[1])
  expect(readCookie(answer)).not.toBe(admin)
})

it('marks the cookie Secure when the page came by TLS', async () => {
  const headers = { 'content-type': 'application/json', origin: `https://${stand.host}` }
  const body = JSON.stringify({ name: 'root', password: PASSWORD })
  const answer = await stand.ask('/api/trpc/account.login', { method: 'POST', headers, body })
  expect(answer.headers['set-cookie']?.[0]).toMatch(/; Secure$/)
})

it('says the same for a wrong name and a wrong password', async () => {
  const name = await stand.call('mutation', 'account.login', { name: 'nobody', password: PASSWORD })
  const password = await stand.call('mutation', 'account.login', { name: 'root', password: 'wrong' })
  expect(name.status).toBe(401)
  expect([name.status, name.error?.message]).toEqual([password.status, password.error?.message])
})

it('slows guessing down for the pair of account and address', async () => {
  const statuses: number[] = []
  for (let i = 0; i < 12; i += 1)
    statuses.push((await stand.call('mutation', 'account.login', { name: 'guessed', password: `${i}` })).status)
  expect(statuses.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 401))
  expect(statuses.slice(10)).toEqual([429, 429])
  expect((await stand.call('mutation', 'account.login', { name: 'root', password: PASSWORD })).status).toBe(200)
})

it('ends a session at logout, at removal and when the password changes', async () => {
  const editor = await signIn(stand, admin, 'editor')
  const other = readCookie(await stand.call('mutation', 'account.login', { name: 'a-editor', password: PASSWORD }))
  const changed = await stand.call(
    'mutation',
    'account.changePassword',
    { current: PASSWORD, next: 'another good one' },
    editor,
  )
  expect(changed.status).toBe(200)
  expect((await stand.call('query', 'models.list', undefined, other)).status).toBe(401)
  expect((await stand.call('query', 'models.list', undefined, editor)).status).toBe(200)
  await stand.call('mutation', 'account.logout', undefined, editor)
  expect((await stand.call('query', 'models.list', undefined, editor)).status).toBe(401)

  const viewer = await signIn(stand, admin, 'viewer')
  const users = (await stand.call('query', 'account.users', undefined, admin)).data as { id: string; name: string }[]
  const { id } = users.find(({ name }) => name === 'a-viewer') ?? { id: '' }
  expect((await stand.call('mutation', 'account.removeUser', { id }, admin)).status).toBe(200)
  expect((await stand.call('query', 'models.list', undefined, viewer)).status).toBe(401)
})

it('keeps the last admin', async () => {
  const users = (await stand.call('query', 'account.users', undefined, admin)).data as { id: string; role: string }[]
  const { id } = users.find(({ role }) => role === 'admin') ?? { id: '' }
  expect((await stand.call('mutation', 'account.setRole', { id, role: 'viewer' }, admin)).status).toBe(400)
  expect((await stand.call('mutation', 'account.removeUser', { id }, admin)).status).toBe(400)
})

it('refuses fields that nobody asked for, also those of prototypes', async () => {
  const extra = await stand.call('mutation', 'account.login', {
    name: 'root',
    password: PASSWORD,
    role: 'admin',
    isAdmin: true,
  })
  expect(extra.status).toBe(400)
  const operator = await stand.call('mutation', 'account.login', { name: { not: '' }, password: PASSWORD })
  expect(operator.status).toBe(400)
  const body = '{"name":"root","password":"correct horse battery","__proto__":{"role":"admin"}}'
  const headers = { 'content-type': 'application/json' }
  const polluted = await stand.ask('/api/trpc/account.setup', { method: 'POST', headers, body })
  expect(polluted.status).toBeGreaterThanOrEqual(400)
})

it('writes down who changed what, also what was refused, and nobody can rewrite it', async () => {
  const viewer = await signIn(stand, admin, 'operator')
  await stand.call('mutation', 'models.unload', { model: 'two' }, viewer)
  await stand.call('mutation', 'models.removeModel', { model: 'two' }, viewer)
  const page = (await stand.call('query', 'audit.list', { limit: 50, object: 'two' }, viewer)).data as {
    rows: Record<string, unknown>[]
  }
  expect(page.rows.map(({ who, action, outcome }) => [who, action, outcome])).toEqual([
    ['a-operator', 'models.removeModel', 'This needs the role editor; yours is operator'],
    ['a-operator', 'models.unload', 'done'],
  ])
  const logins = (await stand.call('query', 'audit.list', { limit: 200, object: 'guessed' }, viewer)).data as {
    rows: Record<string, unknown>[]
  }
  expect(logins.rows).toHaveLength(12)
  expect(JSON.stringify(logins)).not.toContain(PASSWORD)
})

it('asks for the setup token where other machines can come', async () => {
  const open = await openStand({ admin: { address: '0.0.0.0' } })
  const token =
    open.lines.map((line) => /setup token: (\S+)/.exec(line)?.[1]).find((found) => found !== undefined) ?? ''
  expect(token).toMatch(/^[\w-]{16}$/)
  expect((await open.call('mutation', 'account.setup', { name: 'root', password: PASSWORD })).status).toBe(403)
  expect((await open.call('mutation', 'account.setup', { name: 'root', password: PASSWORD, token: 'x' })).status).toBe(
    403,
  )
  expect((await open.call('mutation', 'account.setup', { name: 'root', password: PASSWORD, token })).status).toBe(200)
  await open.close()
})
