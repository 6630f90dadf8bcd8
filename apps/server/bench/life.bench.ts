import { printTable, residentMb, round, sleep, startConch } from './measure.ts'
import type { Running } from './measure.ts'
import { makeRepository } from './models.ts'

/** Start, idle memory, growth over load cycles, and how long the port goes silent while heavy things happen. */
const post = (server: Running, path: string, body?: string) =>
  fetch(`http://127.0.0.1:${server.port}${path}`, { method: 'POST', ...(body === undefined ? {} : { body }) })

/** The longest silence, in ms, of a probe that asks every few milliseconds while `work` runs. */
async function longestPause(server: Running, work: () => Promise<unknown>): Promise<number> {
  let running = true
  let longest = 0
  const probe = (async () => {
    while (running) {
      const began = performance.now()
      await (await fetch(`http://127.0.0.1:${server.port}/v2/health/live`)).arrayBuffer()
      longest = Math.max(longest, performance.now() - began)
      await sleep(2)
    }
  })()
  await work()
  running = false
  await probe
  return longest
}

const five = await startConch(makeRepository(['add_sub'], 4))
await sleep(3000)
printTable([
  {
    'ready ms (≤ 1000 + Node)': round(five.readyAfter, 0),
    'idle MB, five models (≤ 160)': round(residentMb(five.pid), 0),
  },
])
await five.stop()

const explicit = await startConch(makeRepository(['add_sub', 'large', 'slow']), '--model-control-mode=explicit')
const cycle = async () => {
  const loaded = await post(explicit, '/v2/repository/models/add_sub/load')
  if (loaded.status !== 200) throw new Error(await loaded.text())
  await post(explicit, '/v2/repository/models/add_sub/unload')
  while ((await fetch(`http://127.0.0.1:${explicit.port}/v2/models/add_sub/ready`)).status === 200) await sleep(1)
}
for (let i = 0; i < 150; i += 1) await cycle()
await sleep(500)
const before = residentMb(explicit.pid)
for (let i = 0; i < 100; i += 1) await cycle()
await sleep(500)
const after = residentMb(explicit.pid)
printTable([
  {
    'MB before 100 load cycles': round(before),
    after: round(after),
    'growth % (< 5)': round((after / before - 1) * 100),
  },
])

// What the machine itself does to the probe while nothing happens in the server.
const quiet = await longestPause(explicit, () => sleep(1500))
const loading = await longestPause(explicit, async () => {
  const loaded = await post(explicit, '/v2/repository/models/large/load')
  if (loaded.status !== 200) throw new Error(await loaded.text())
})
await post(explicit, '/v2/repository/models/slow/load')
const size = 1024 * 1024
const head = JSON.stringify({
  inputs: [{ name: 'IN', datatype: 'FP32', shape: [1024, 1024], parameters: { binary_data_size: size * 4 } }],
  parameters: { binary_data_output: true },
})
const body = Buffer.concat([Buffer.from(head), Buffer.alloc(size * 4)])
let ran = 0
const infer = async () => {
  const began = performance.now()
  const answer = await fetch(`http://127.0.0.1:${explicit.port}/v2/models/slow/infer`, {
    method: 'POST',
    body,
    headers: { 'Inference-Header-Content-Length': String(head.length) },
  })
  if (answer.status !== 200) throw new Error(await answer.text())
  await answer.arrayBuffer()
  ran = performance.now() - began
}
await infer()
const running = await longestPause(explicit, infer)
printTable([
  { while: 'nothing happens', 'longest pause ms (≤ 20)': round(quiet) },
  { while: '100 MB model loads', 'longest pause ms (≤ 20)': round(loading) },
  { while: `a ${round(ran, 0)} ms model runs`, 'longest pause ms (≤ 20)': round(running) },
])
await explicit.stop()
