import { afterAll, beforeAll, expect, it } from 'vitest'
import { appRouter } from '../../src/admin/root.ts'
import { openStand, signIn, signUp, type Stand } from './stand.ts'

/** The whole surface, by role: a new procedure must be added here, with a thought. */
const ROLES: Record<string, string> = {
  'account.state': 'public',
  'account.setup': 'public',
  'account.login': 'public',
  'account.logout': 'viewer',
  'account.changePassword': 'viewer',
  'account.users': 'admin',
  'account.createUser': 'admin',
  'account.setRole': 'admin',
  'account.removeUser': 'admin',
  'audit.list': 'viewer',
  'config.save': 'editor',
  'deploy.inspect': 'editor',
  'deploy.check': 'viewer',
  'deploy.publish': 'editor',
  'deploy.discard': 'editor',
  'deploy.checkPython': 'editor',
  'deploy.publishPython': 'editor',
  'live.history': 'viewer',
  'live.samples': 'viewer',
  'log.tail': 'viewer',
  'log.model': 'viewer',
  'models.list': 'viewer',
  'models.get': 'viewer',
  'models.file': 'viewer',
  'models.instances': 'viewer',
  'models.events': 'viewer',
  'models.load': 'operator',
  'models.reload': 'operator',
  'models.unload': 'operator',
  'models.deleteVersion': 'editor',
  'models.removeModel': 'editor',
  'playground.infer': 'operator',
  'playground.stream': 'operator',
  'playground.example': 'viewer',
  'rollout.get': 'viewer',
  'requests.find': 'viewer',
  'requests.list': 'viewer',
  'rollout.check': 'viewer',
  'rollout.set': 'operator',
  'rollout.rollBack': 'operator',
}
const ORDER = ['viewer', 'operator', 'editor', 'admin']

interface Procedure {
  _def: { meta?: { role?: string }; type: 'query' | 'mutation' | 'subscription' }
}
const procedures = Object.entries(appRouter._def.procedures as unknown as Record<string, Procedure>)

let stand: Stand
const cookies: Record<string, string> = {}
beforeAll(async () => {
  stand = await openStand()
  cookies['admin'] = await signUp(stand)
  for (const role of ['viewer', 'operator', 'editor']) cookies[role] = await signIn(stand, cookies['admin'], role)
})
afterAll(() => stand.close())

it('declares the role of every procedure', () => {
  expect(Object.fromEntries(procedures.map(([name, { _def }]) => [name, _def.meta?.role]))).toEqual(ROLES)
})

it('holds every procedure to its role', async () => {
  const wrong: string[] = []
  for (const [name, { _def }] of procedures) {
    if (_def.type === 'subscription' || _def.meta?.role === 'public') continue
    const least = ORDER.indexOf(ROLES[name] ?? 'admin')
    const strangers = await stand.call(_def.type, name, {})
    if (strangers.status !== 401) wrong.push(`${name} answers a stranger ${strangers.status}`)
    for (const role of ORDER.slice(0, least)) {
      const { status } = await stand.call(_def.type, name, {}, cookies[role])
      if (status !== 403) wrong.push(`${name} answers ${role} ${status}`)
    }
    // The right role gets to the input check (or beyond), which is not 401 or 403. Logging out would end the session.
    if (name === 'account.logout') continue
    const { status } = await stand.call(_def.type, name, { bad: 1 }, cookies[ORDER[least] ?? ''])
    if (status === 401 || status === 403) wrong.push(`${name} refuses ${ORDER[least]} with ${status}`)
  }
  expect(wrong).toEqual([])
})

it('never changes anything by GET', async () => {
  const input = encodeURIComponent('{"model":"one"}')
  const answer = await stand.ask(`/api/trpc/models.unload?input=${input}`, {
    headers: { cookie: cookies['admin'] ?? '' },
  })
  expect(answer.status).toBe(405)
  expect(await stand.engine.modelReady('one', '')).toBe(true)
})

it('caps batches and bodies', async () => {
  const names = Array.from({ length: 1000 }, () => 'account.state').join(',')
  expect((await stand.ask(`/api/trpc/${names}?batch=1`)).status).toBe(400)
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ name: 'x'.repeat(200_000), password: 'y' })
  expect((await stand.ask('/api/trpc/account.login', { method: 'POST', headers, body })).status).toBe(413)
})
