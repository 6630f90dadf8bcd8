/**
 * The engine with ONNX Runtime behind it: CPU per add/sub request, memory over loads and unloads. Runs with
 * `npm run bench -- serving` (needs --expose-gc for the memory part).
 */
import { createEngine } from '../src/engine.ts'
import { FIXTURE_MODELS, floats, testOptions, testRequest } from '../src/testing.ts'

const REQUESTS = 20_000
const engine = createEngine(testOptions([FIXTURE_MODELS], { startupModels: ['add_sub'] }))
await engine.start()

const request = testRequest('add_sub', [floats('INPUT0', [1, 16], 1), floats('INPUT1', [1, 16], 2)])
for (let round = 0; round < 5; round++) {
  const before = process.cpuUsage()
  const begin = performance.now()
  for (let i = 0; i < REQUESTS; i++) await engine.infer(request)
  const { user, system } = process.cpuUsage(before)
  const wall = ((performance.now() - begin) * 1_000) / REQUESTS
  console.log(
    `add_sub: ${((user + system) / REQUESTS).toFixed(1)} µs CPU, ${wall.toFixed(1)} µs each, one after the other`,
  )
}

const resident = () => {
  globalThis.gc?.()
  return process.memoryUsage().rss / 2 ** 20
}
let first = 0
for (let cycle = 0; cycle <= 100; cycle++) {
  await engine.unload('add_sub', false)
  await engine.load('add_sub')
  await engine.infer(request)
  if (cycle === 10) first = resident()
}
console.log(`resident after 10 and 110 loads: ${first.toFixed(1)} and ${resident().toFixed(1)} MiB`)
console.log(`of it ${((100 * (resident() - first)) / first).toFixed(1)} % growth`)
await engine.stop()
