import { WebSocket } from 'ws'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openStand, putFiles, signIn, signUp, type Stand } from './stand.ts'

let stand: Stand
let admin: string
beforeAll(async () => {
  stand = await openStand()
  admin = await signUp(stand)
})
afterAll(() => stand.close())

const login = { method: 'POST', body: '{"name":"root","password":"x"}' }
const json = { 'content-type': 'application/json' }

it.each([
  'attacker.test',
  'attacker.test:8080',
  'localhost.attacker.test',
  '127.0.0.1.attacker.test',
  '127.0.0.1@attacker.test',
  '169.254.1.1',
])('refuses the host name %s on every method', async (host) => {
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    for (const path of ['/', '/api/health', '/api/trpc/account.state', '/api/uploads']) {
      const { status } = await stand.ask(path, { method, headers: { host } })
      expect([method, path, [400, 421].includes(status)]).toEqual([method, path, true])
    }
  }
})

it('takes the names of this machine with any port, as a forwarded one', async () => {
  for (const host of ['localhost:9999', '127.0.0.1', '[::1]:80', stand.host]) {
    expect((await stand.ask('/api/health', { headers: { host } })).status).toBe(200)
  }
})

it('takes the names that a proxy in front was given', async () => {
  const proxied = await openStand({ admin: { allowedHosts: ['models.example.org'] } })
  expect((await proxied.ask('/api/health', { headers: { host: 'models.example.org' } })).status).toBe(200)
  expect((await proxied.ask('/api/health', { headers: { host: 'other.example.org' } })).status).toBe(421)
  await proxied.close()
})

it.each([
  'http://evil.example',
  'null',
  'http://127.0.0.1',
  'http://localhost:1',
  'file://',
  'http://127.0.0.1:1@evil.example',
])('refuses the origin %s on every method', async (origin) => {
  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    const { status } = await stand.ask('/api/trpc/account.state', { method, headers: { origin, cookie: admin } })
    expect([method, status]).toEqual([method, 403])
  }
  expect((await stand.ask('/api/uploads', { method: 'POST', headers: { origin, cookie: admin } })).status).toBe(403)
})

it('refuses what the browser says comes from another site, also without an origin', async () => {
  const headers = { ...json, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }
  expect((await stand.ask('/api/trpc/account.login', { ...login, headers })).status).toBe(403)
  const same = await stand.ask('/api/trpc/account.login', {
    ...login,
    headers: { ...json, 'sec-fetch-site': 'same-site' },
  })
  expect(same.status).toBe(403)
})

it('takes no form and no text for JSON', async () => {
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
    expect((await stand.ask('/api/trpc/account.login', { ...login, headers: { 'content-type': type } })).status).toBe(
      415,
    )
  }
})

it('refuses an absolute request line', async () => {
  const text = await new Promise<string>((resolve) => {
    const socket = connect(stand.port, '127.0.0.1', () =>
      socket.end(`GET http://evil.example/ HTTP/1.1\r\nHost: ${stand.host}\r\nConnection: close\r\n\r\n`),
    )
    let got = ''
    socket.on('data', (chunk) => (got += chunk.toString('latin1')))
    socket.on('close', () => resolve(got))
  })
  expect(text).toMatch(/^HTTP\/1\.1 400 /)
})

function dial(headers: Record<string, string>, path = '/api/ws'): Promise<WebSocket | number> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://127.0.0.1:${stand.port}${path}`, { headers })
    socket.on('open', () => resolve(socket))
    socket.on('unexpected-response', (_request, response) => {
      response.destroy()
      resolve(response.statusCode ?? 0)
    })
    socket.on('error', reject)
  })
}

it('opens a WebSocket only to signed-in pages of its own origin', async () => {
  const origin = `http://127.0.0.1:${stand.port}`
  expect(await dial({ origin: 'http://evil.example', cookie: admin })).toBe(403)
  expect(await dial({ origin: 'null', cookie: admin })).toBe(403)
  expect(await dial({ cookie: admin })).toBe(403)
  expect(await dial({ origin })).toBe(401)
  expect(await dial({ origin, cookie: `${admin}x` })).toBe(401)
  expect(await dial({ origin, cookie: admin, host: 'attacker.test' })).toBe(421)
  expect(await dial({ origin, cookie: admin }, '/')).toBe(404)
  const socket = await dial({ origin, cookie: admin })
  expect(socket).toBeInstanceOf(WebSocket)
  if (socket instanceof WebSocket) socket.terminate()
})

it('streams over the socket, checks roles per message, and ends with the session', async () => {
  const cookie = await signIn(stand, admin, 'viewer')
  const socket = await dial({ origin: `http://127.0.0.1:${stand.port}`, cookie })
  if (!(socket instanceof WebSocket)) throw new Error('refused')
  const messages: {
    id?: number
    result?: { type: string; data?: { id: string; data: { text: string } } }
    error?: { data: { code: string } }
  }[] = []
  let wake = () => {}
  socket.on('message', (data: Buffer) => {
    messages.push(JSON.parse(data.toString('utf8')) as (typeof messages)[number])
    wake()
  })
  const until = async (found: (message: (typeof messages)[number]) => boolean) => {
    for (;;) {
      const message = messages.find(found)
      if (message !== undefined) return message
      await new Promise<void>((resolve) => (wake = resolve))
    }
  }
  socket.send(JSON.stringify({ id: 1, method: 'subscription', params: { path: 'live.samples' } }))
  const frame = await until(({ id, result }) => id === 1 && result?.type === 'data')
  expect(frame.result?.data?.data).toMatchObject({ models: [{ model: 'one' }, { model: 'two' }], server: { rps: 0 } })
  socket.send(JSON.stringify({ id: 2, method: 'mutation', params: { path: 'models.unload', input: { model: 'one' } } }))
  expect((await until(({ id }) => id === 2)).error?.data.code).toBe('FORBIDDEN')
  const closed = new Promise((resolve) => socket.on('close', resolve))
  await stand.call('mutation', 'account.logout', undefined, cookie)
  await closed
  expect(await stand.engine.modelReady('one', '')).toBe(true)
})

it('drops a message that is larger than any the console sends', async () => {
  const socket = await dial({ origin: `http://127.0.0.1:${stand.port}`, cookie: admin })
  if (!(socket instanceof WebSocket)) throw new Error('refused')
  const code = new Promise((resolve) => socket.on('close', resolve))
  socket.send('x'.repeat(2_000_000))
  expect(await code).toBe(1009)
})

it('answers every path without a session with a page, and gives no file beyond the export', async () => {
  const bare = await stand.ask('/')
  expect([bare.status, bare.headers['content-type']]).toEqual([503, 'text/html; charset=utf-8'])
  expect(bare.text).toContain('npm run build')
  await putFiles(`${stand.base}/built`, {
    'console/index.html': '<html><script>self.a=1</script><script src="/_next/static/a.js"></script></html>',
    'console/404.html': 'nothing here',
    'console/models/_.html': 'a model',
    'console/models/_.txt': 'its data',
    'console/models/_/config.html': 'its config',
    'console/_next/static/a.js': 'export {}'.repeat(200),
    'secret.txt': 'secret',
  })
  const built = await openStand({ admin: { consoleDirectory: `${stand.base}/built/console` } })
  const home = await built.ask('/')
  expect(home.headers).toMatchObject({
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'cache-control': 'no-cache',
  })
  expect(home.headers['content-security-policy']).toMatch(/script-src 'self' 'sha256-[\w+/]{43}='; /)
  expect(home.headers['content-security-policy']).toContain("frame-ancestors 'none'")
  const pages = {
    '/models/iris': 'a model',
    '/models/iris.txt': 'its data',
    '/models/a%20b/config': 'its config',
    '/models/iris?tab=1': 'a model',
  }
  for (const [path, text] of Object.entries(pages)) expect((await built.ask(path)).text).toBe(text)
  const script = await built.ask('/_next/static/a.js', { headers: { 'accept-encoding': 'gzip, br' } })
  expect(script.headers).toMatchObject({
    'content-encoding': 'br',
    'cache-control': 'public, max-age=31536000, immutable',
  })
  const head = await built.ask('/_next/static/a.js', { method: 'HEAD' })
  expect([head.status, head.headers['content-length'], head.text]).toEqual([200, '1800', ''])
  const etag = home.headers.etag ?? ''
  expect((await built.ask('/', { headers: { 'if-none-match': etag } })).status).toBe(304)
  const outside = [
    '/../secret.txt',
    '/%2e%2e/secret.txt',
    '/..%2fsecret.txt',
    '/models/..%2f..%2fsecret.txt',
    '//secret.txt',
    '/..\\secret.txt',
    '/%00',
    '/%',
  ]
  for (const path of outside) {
    const answer = await built.ask(path)
    expect([path, answer.status, answer.text.includes('secret')]).toEqual([path, 404, false])
  }
  for (const path of ['/_next/image?url=http://127.0.0.1:8002/metrics&w=1&q=1', '/.env', '/api/../api/nothing']) {
    expect((await built.ask(path)).status).toBe(404)
  }
  expect((await built.ask('/', { method: 'DELETE' })).status).toBe(405)
  await built.close()
})
