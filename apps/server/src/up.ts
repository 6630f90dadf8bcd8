import { startAdmin } from './admin/listener.ts'
import type { ServeOptions } from './options.ts'
import { serve } from './serve.ts'

/** `serve` and the console beside it. */
export function serveWithConsole(options: ServeOptions): Promise<number> {
  return serve(options, async ({ engine, log, addresses }) => {
    const { address, port } = options.console
    const admin = await startAdmin({ engine, log, ...options.console, serve: options, addresses })
    log.write('info', `Started Console at ${address}:${port}`)
    const lines = [
      '',
      `  Console:  ${admin.url}`,
      `  Models:   http://${addresses.http}`,
      `  Metrics:  http://${addresses.metrics}/metrics`,
      '',
      '',
    ]
    process.stdout.write(lines.join('\n'))
    return admin
  })
}
