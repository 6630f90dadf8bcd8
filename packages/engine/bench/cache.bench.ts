/**
 * A response from the cache against the identity model's own: `npm run bench -- cache`. The same engine, requests one after
 * the other, CPU of this process; the best of several rounds, taken in turns.
 */
import { createEngine } from '../src/engine.ts'
import { floats, makeDirectory, testOptions, testRequest } from '../src/testing.ts'

const ROUNDS = 9
const REQUESTS = 30_000
const config = (more: string) => `backend: "identity" max_batch_size: 8
  input { name: "INPUT0" data_type: TYPE_FP32 dims: [ -1 ] }
  output { name: "OUTPUT0" data_type: TYPE_FP32 dims: [ -1 ] } ${more}`

const repository = await makeDirectory({
  'plain/config.pbtxt': config(''),
  'plain/1/': '',
  'cached/config.pbtxt': config('response_cache { enable: true }'),
  'cached/1/': '',
})
const cache = { name: 'local', settings: { size: '100000000' } }
const engine = createEngine(testOptions([repository.directory], { startupModels: ['*'], cache }))
await engine.start()

async function measure(model: string, elements: number): Promise<number> {
  const request = testRequest(model, [floats('INPUT0', [1, elements], 1)], { id: '1' })
  const before = process.cpuUsage()
  for (let i = 0; i < REQUESTS; i++) await engine.infer(request)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / REQUESTS
}

for (const elements of [16, 256, 4_096]) {
  const best = { plain: Infinity, cached: Infinity }
  for (let round = 0; round < ROUNDS; round++) {
    best.plain = Math.min(best.plain, await measure('plain', elements))
    best.cached = Math.min(best.cached, await measure('cached', elements))
  }
  const { plain, cached } = best
  console.log(`${elements} floats: identity ${plain.toFixed(2)} µs CPU, from the cache ${cached.toFixed(2)} µs`)
}
await engine.stop()
await repository.remove()
