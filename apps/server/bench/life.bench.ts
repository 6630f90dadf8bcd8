import { measureNodeStart, readPause, residentMb, round, sleep, startConch, startWatched } from './measure.ts'
import type { Running } from './measure.ts'
import { makeRepository } from './models.ts'
import { median, report } from './targets.ts'

/** Start, idle memory, growth over load cycles, and how long the event loop stands still while heavy things happen. */
await benchStart()
await benchCycles()
await benchPauses()

async function benchStart(): Promise<void> {
  const repository = makeRepository(['add_sub'], 4)
  const times: number[] = []
  const resident: number[] = []
  for (let turn = 0; turn < 5; turn += 1) {
    const node = await measureNodeStart()
    const server = await startConch(repository)
    times.push(server.readyAfter - node)
    await sleep(2000)
    resident.push(residentMb(server.pid))
    await server.stop()
  }
  const note = 'five small models, median of 5'
  report({ name: 'ready after Node is up', limit: 1000, measured: round(median(times), 0), unit: 'ms', note })
  report({ name: 'idle resident memory', limit: 160, measured: round(median(resident), 0), unit: 'MB', note })
}

async function post(server: Running, path: string): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${server.port}${path}`, { method: 'POST' })
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(text)
}

async function benchCycles(): Promise<void> {
  const server = await startConch(makeRepository(['add_sub']), '--model-control-mode=explicit')
  const ready = `http://127.0.0.1:${server.port}/v2/models/add_sub/ready`
  const cycle = async () => {
    await post(server, '/v2/repository/models/add_sub/load')
    await post(server, '/v2/repository/models/add_sub/unload')
    while ((await fetch(ready)).status === 200) await sleep(1)
  }
  const run = async (cycles: number) => {
    for (let i = 0; i < cycles; i += 1) await cycle()
    await sleep(500)
    return residentMb(server.pid)
  }
  const before = await run(10)
  const after = await run(100)
  const later = await run(300)
  const last = await run(600)
  const growth = (to: number) => round((to / before - 1) * 100)
  report({
    name: 'growth over 100 load/unload cycles',
    limit: 5,
    measured: growth(after),
    unit: '%',
    note: `of ${round(before)} MB after the first 10; ${growth(later)} % after 300 more, ${growth(last)} % after 600 more`,
  })
  await server.stop()
}

/** What happens once in a server's life is looked at in several servers. */
async function benchPauses(): Promise<void> {
  const repository = makeRepository(['large', 'slow'])
  const seen = new Map<string, { own: number; longest: number; took: number }[]>()
  for (let turn = 0; turn < 5; turn += 1) {
    const server = await startWatched(repository, '--model-control-mode=explicit')
    const during = async (name: string, work: () => Promise<unknown>) => {
      await sleep(300)
      await readPause(server)
      const began = performance.now()
      await work()
      const took = performance.now() - began
      seen.set(name, [...(seen.get(name) ?? []), { ...(await readPause(server)), took }])
    }
    await during('nothing happens', () => sleep(1000))
    await during('a 100 MB model loads, the first one', () => post(server, '/v2/repository/models/large/load'))
    await post(server, '/v2/repository/models/large/unload')
    await during('a 100 MB model loads again', () => post(server, '/v2/repository/models/large/load'))
    await during('a slow model loads', () => post(server, '/v2/repository/models/slow/load'))
    await during('a slow model runs for the first time', () => inferSlow(server))
    await during('a slow model runs', () => inferSlow(server))
    await server.stop()
  }
  for (const [name, turns] of seen) {
    const of = (key: 'own' | 'longest' | 'took', digits = 1) => round(median(turns.map((turn) => turn[key])), digits)
    report({
      name: `event loop held while ${name}`,
      limit: 20,
      measured: of('own'),
      unit: 'ms',
      note: `of ${of('took', 0)} ms, median of ${turns.length}; ${of('longest')} ms with the machine's own pauses`,
    })
  }
}

async function inferSlow(server: Running): Promise<void> {
  const size = 1024 * 1024
  const parameters = { binary_data_size: size * 4 }
  const input = { name: 'IN', datatype: 'FP32', shape: [1024, 1024], parameters }
  const head = JSON.stringify({ inputs: [input], parameters: { binary_data_output: true } })
  const answer = await fetch(`http://127.0.0.1:${server.port}/v2/models/slow/infer`, {
    method: 'POST',
    body: Buffer.concat([Buffer.from(head), Buffer.alloc(size * 4)]),
    headers: { 'Inference-Header-Content-Length': String(head.length) },
  })
  if (answer.status !== 200) throw new Error(await answer.text())
  await answer.arrayBuffer()
}
