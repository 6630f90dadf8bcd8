/**
 * What the engine itself costs per request: `node --conditions=@conch/source packages/engine/bench/engine.bench.ts`.
 * The backend answers at once with a constant, so everything measured is lookup, checks, schedule, statistics, promise.
 */
import { createEngine } from '../src/engine.ts'
import {
  FakeBackend,
  fakeConfig,
  floats,
  makeDirectory,
  onlyBackends,
  testOptions,
  testRequest,
} from '../src/testing.ts'

const ROUNDS = 7
const REQUESTS = 50_000

async function measure(name: string, config: string): Promise<void> {
  const repository = await makeDirectory({ 'm/config.pbtxt': config, 'm/1/model.bin': '' })
  const backend = new FakeBackend()
  const outputs = [floats('OUT', [1, 4])]
  const answers = [{ outputs }]
  backend.execute = (batch) => {
    backend.calls.length = 0
    batch.computeInputEnd = performance.now()
    batch.computeOutputStart = performance.now()
    return answers
  }
  const engine = createEngine(testOptions([repository.directory], { startupModels: ['*'] }), {
    findBackend: onlyBackends(backend),
  })
  await engine.start()
  const request = testRequest('m', [floats('IN', [1, 4])], { id: '1' })
  const results: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const before = process.cpuUsage()
    for (let i = 0; i < REQUESTS; i++) await engine.infer(request)
    const { user, system } = process.cpuUsage(before)
    results.push((user + system) / REQUESTS)
  }
  const best = Math.min(...results)
  console.log(
    `${name}: ${best.toFixed(2)} µs CPU per request (rounds: ${results.map((one) => one.toFixed(2)).join(' ')})`,
  )
  await engine.stop()
  await repository.remove()
}

await measure('direct', fakeConfig())
await measure('dynamic', fakeConfig('dynamic_batching { }'))
await measure(
  'dynamic with priorities',
  fakeConfig('dynamic_batching { priority_levels: 3 default_priority_level: 2 }'),
)
