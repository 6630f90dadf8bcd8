import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { applyWSSHandler } from '@trpc/server/adapters/ws'
import { WebSocketServer, type WebSocket } from 'ws'
import type { Services } from '../context.ts'
import { createContext } from './call-context.ts'
import { readSessionCookie } from '../session.ts'
import type { AppRouter } from '../root.ts'

export interface Sockets {
  /** Takes over a connection whose Host and Origin were checked. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>
  close(): void
}

const MAX = { payload: 1_048_576, sockets: 1000, perSession: 40, buffered: 16 * 1_048_576 }
/** Milliseconds between looks at slow readers and ended sessions. */
const LOOK_MS = 10_000

interface Open {
  readonly session: string
  readonly token: string | null
}

/** Live data: one socket a tab, only for people who are signed in, gone when their session is. */
export function createSockets(services: Services, router: AppRouter): Sockets {
  const wss = new WebSocketServer({
    noServer: true,
    maxPayload: MAX.payload,
    perMessageDeflate: false,
    clientTracking: true,
  })
  const open = new Map<WebSocket, Open>()
  const handler = applyWSSHandler({
    wss,
    router,
    createContext: ({ req }) => createContext(services, req),
    keepAlive: { enabled: true, pingMs: 20_000, pongWaitMs: 10_000 },
  })
  services.sessions.onClosed((ids) => {
    for (const [socket, { session }] of open) if (ids.includes(session)) socket.terminate()
  })
  const look = setInterval(() => void inspect(services, open), LOOK_MS).unref()
  return {
    async upgrade(request, socket, head) {
      const token = readSessionCookie(request.headers.cookie)
      const session = await services.sessions.find(token).catch(() => null)
      if (session === null) return refuse(socket, '401 Unauthorized')
      const mine = [...open.values()].filter((entry) => entry.session === session.id).length
      if (open.size >= MAX.sockets || mine >= MAX.perSession) return refuse(socket, '429 Too Many Requests')
      wss.handleUpgrade(request, socket, head, (client) => {
        open.set(client, { session: session.id, token })
        client.on('close', () => open.delete(client))
        client.on('error', () => client.terminate())
        wss.emit('connection', client, request)
      })
    },
    close() {
      clearInterval(look)
      handler.broadcastReconnectNotification()
      for (const client of wss.clients) client.terminate()
      wss.close()
    },
  }
}

/** Ends sockets of sessions that ran out, and of readers so slow that what waits for them fills the memory. */
async function inspect({ sessions }: Services, open: ReadonlyMap<WebSocket, Open>): Promise<void> {
  for (const [socket, { token }] of open) {
    const gone = (await sessions.find(token).catch(() => undefined)) === null
    if (gone || socket.bufferedAmount > MAX.buffered) socket.terminate()
  }
}

export function refuse(socket: Duplex, status: string): void {
  socket.on('error', () => undefined)
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
}
