import { createServer, STATUS_CODES } from '../node-http.ts'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Engine } from '@conch/engine'
import { listen } from '../listen.ts'
import type { ServerLog } from '../log.ts'
import type { MetricsOptions } from '../options.ts'

export interface MetricsFace {
  readonly address: string
  stop(): Promise<void>
}

const TEXT = 'text/plain; charset=utf-8'
const NOT_ALLOWED = Buffer.from('{"error":"Method Not Allowed"}')

/** The Prometheus port. Rejects when the address cannot be had. */
export async function startMetrics(engine: Engine, options: MetricsOptions, log: ServerLog): Promise<MetricsFace> {
  const server = createServer(
    { requestTimeout: 10_000, headersTimeout: 10_000, keepAliveTimeout: 120_000, requireHostHeader: false },
    (req, res) => {
      answer(engine, req, res).catch((error: unknown) => {
        log.write('error', `metrics could not be collected: ${String(error)}`)
        if (!res.headersSent) reply(res, 500, Buffer.from('{"error":"metrics could not be collected"}'))
        else res.destroy()
      })
    },
  )
  server.maxConnections = 1024
  return { address: await listen(server, options), stop: () => close(server) }
}

async function answer(engine: Engine, req: IncomingMessage, res: ServerResponse): Promise<void> {
  req.resume()
  if (req.method !== 'GET') return reply(res, 405, NOT_ALLOWED)
  const url = req.url ?? ''
  const query = url.indexOf('?')
  const path = query < 0 ? url : url.slice(0, query)
  // Any other path is an empty 200, as the original answers.
  if (path !== '/metrics' && path !== '/metrics/') return reply(res, 200, Buffer.alloc(0))
  return reply(res, 200, Buffer.from(await engine.metricsText()))
}

function reply(res: ServerResponse, status: number, body: Uint8Array): void {
  res.sendDate = false
  const type = status === 200 ? TEXT : 'text/plain'
  res.writeHead(status, status === 405 ? 'Not Allowed' : STATUS_CODES[status], {
    'Content-Type': type,
    'Content-Length': body.length,
  })
  res.end(body)
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
