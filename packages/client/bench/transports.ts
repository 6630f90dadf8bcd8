// What a small inference costs the client, by transport: `node --conditions=@conch/source packages/client/bench/transports.ts 127.0.0.1:8000 127.0.0.1:8001`
// against a server with examples/models. CPU time (user and system) of this process per request, at concurrency 8.
import { HttpClient, type InferCall } from '../src/index.ts'
import { GrpcClient, openHttp } from '../src/node.ts'

const [http = '127.0.0.1:8000', grpc = '127.0.0.1:8001'] = process.argv.slice(2)
const CONCURRENCY = 8
const REQUESTS = 8_000

const values = new Float32Array(16)
const call: InferCall = {
  inputs: ['INPUT0', 'INPUT1'].map((name) => ({ name, datatype: 'FP32', shape: [1, 16], values })),
}

async function measure(name: string, run: () => Promise<unknown>): Promise<void> {
  const repeat = async (count: number) => {
    let left = count
    await Promise.all(
      Array.from({ length: CONCURRENCY }, async () => {
        while (left-- > 0) await run()
      }),
    )
  }
  await repeat(1_000)
  const before = process.cpuUsage()
  const from = performance.now()
  await repeat(REQUESTS)
  const { user, system } = process.cpuUsage(before)
  const rate = (REQUESTS / (performance.now() - from)) * 1_000
  console.log(
    `${name.padEnd(28)} ${((user + system) / REQUESTS).toFixed(1).padStart(7)} µs/request ${rate.toFixed(0).padStart(7)} requests/s`,
  )
}

const byFetch = new HttpClient(`http://${http}`)
const bySocket = openHttp(`http://${http}`)
const byGrpc = new GrpcClient(grpc)
const preparedHttp = bySocket.prepare('add_sub', call)
const preparedGrpc = byGrpc.prepare('add_sub', call)
await measure('HTTP, fetch', () => byFetch.infer('add_sub', call))
await measure('HTTP, sockets', () => bySocket.infer('add_sub', call))
await measure('HTTP, sockets, prepared', () => bySocket.inferPrepared(preparedHttp))
await measure('HTTP, sockets, JSON', () => bySocket.infer('add_sub', call, { format: 'json' }))
await measure('gRPC', () => byGrpc.infer('add_sub', call))
await measure('gRPC, prepared', () => byGrpc.inferPrepared(preparedGrpc))
for (const client of [byFetch, bySocket, byGrpc]) client.close()
