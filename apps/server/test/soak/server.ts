import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import path from 'node:path'

const CONCH = path.join(import.meta.dirname, '../../../../bin/conch')

export interface Answer {
  readonly status: number
  readonly text: string
}
export type SoakServer = Awaited<ReturnType<typeof startServer>>

/** The server as it is used, in a process of its own. */
export async function startServer(models: string) {
  const child = spawn(CONCH, [
    'serve',
    `--model-repository=${models}`,
    '--model-control-mode=explicit',
    '--load-model=*',
    '--cache-config=local,size=1048576',
    '--rate-limit=execution_count',
    '--http-address=127.0.0.1',
    '--http-port=0',
    '--grpc-port=0',
    '--metrics-port=0',
  ])
  let output = ''
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  const started = new Promise<void>((resolve) => {
    const read = (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-200_000)
      if (/Started Metrics Service at \S+\n/.test(output)) resolve()
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
  })
  await Promise.race([
    started,
    ended.then((code) => {
      throw new Error(`the server ended with ${String(code)}: ${output}`)
    }),
  ])
  const addressOf = (service: string) => new RegExp(`Started ${service} at ([\\d.:]+)`).exec(output)?.[1] ?? ''
  const [http, metrics] = [addressOf('HTTPService'), addressOf('Metrics Service')]
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  return {
    ask: (path: string, body?: string) => ask(`http://${http}${path}`, { agent, body }),
    metrics: async () => (await ask(`http://${metrics}/metrics`, { agent, body: undefined })).text,
    /** Sends a request and goes away before its answer. */
    cancel: (path: string, body: string) => cancel(`http://${http}${path}`, body),
    residentMegabytes: () =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024,
    output: () => output,
    /** Ends it as an operator does; returns its exit code. */
    async stop() {
      child.kill('SIGTERM')
      agent.destroy()
      return ended
    },
    kill: () => void child.kill('SIGKILL'),
  }
}

function ask(url: string, { agent, body }: { agent: Agent; body: string | undefined }): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { agent, method: body === undefined ? 'GET' : 'POST' }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (piece: string) => (text += piece))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
      response.on('error', reject)
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

function cancel(url: string, body: string): Promise<void> {
  return new Promise((resolve) => {
    const outgoing = request(url, { method: 'POST' })
    outgoing.on('error', () => undefined)
    outgoing.on('close', resolve)
    outgoing.end(body, () => setImmediate(() => outgoing.destroy()))
  })
}
