import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Absences, startClient, Tally, writeRequest } from './clients.ts'
import type { Run } from './clients.ts'
import { CLIENTS, writeModels } from './models.ts'
import type { Model } from './models.ts'
import { startServer } from './server.ts'

/** Unloaded and loaded again; the others are reloaded while they serve. */
const COME_AND_GO: readonly Model[] = ['ensemble', 'cached', 'limited']
const RELOADED: readonly Model[] = ['direct', 'dynamic', 'sequence', 'ensemble', 'cached', 'limited']
/** Whose requests are cancelled. */
const LEFT: readonly Model[] = ['dynamic', 'limited']
const CANCELS = 4

export interface SoakReport {
  readonly answered: Readonly<Record<string, number>>
  readonly refused: Readonly<Record<string, number>>
  readonly cancelled: number
  readonly reloads: number
  readonly unloads: number
  /** What may not be, in words; at most 20. */
  readonly wrong: readonly string[]
  /** Resident megabytes of the server, once a second. */
  readonly memory: readonly number[]
  readonly exitCode: number | null
}

/**
 * 32 clients over six models for some seconds, with a reload, an unload and cancels every second. Whatever is wrong (an
 * answer, a failure, a count) is in the report.
 */
export async function soak(seconds: number): Promise<SoakReport> {
  const models = await mkdtemp(path.join(tmpdir(), 'conch-soak-'))
  await writeModels(models)
  const server = await startServer(models)
  try {
    const run: Run = { server, tally: new Tally(), absences: new Absences(), running: true }
    const clients = Object.entries(CLIENTS).flatMap(([model, count], kind) =>
      Array.from({ length: count }, (_, i) => startClient(run, model as Model, kind * 10 + i)),
    )
    const counts = { cancelled: 0, reloads: 0, unloads: 0, memory: [] as number[] }
    const end = performance.now() + 1_000 * seconds
    for (let round = 0; performance.now() < end; round++) {
      const next = new Promise((resolve) => setTimeout(resolve, 1_000))
      await disturb(run, { models, round, counts })
      await Promise.race([next, ...clients])
      counts.memory.push(server.residentMegabytes())
    }
    run.running = false
    await Promise.all(clients)
    checkCounters(run.tally, await server.metrics(), counts.cancelled)
    const exitCode = await server.stop()
    return {
      ...counts,
      answered: Object.fromEntries(run.tally.answered),
      refused: Object.fromEntries(run.tally.refused),
      wrong: run.tally.wrong,
      exitCode,
    }
  } finally {
    server.kill()
    await rm(models, { recursive: true, force: true })
  }
}

interface Round {
  readonly models: string
  readonly round: number
  readonly counts: { cancelled: number; reloads: number; unloads: number }
}

async function disturb(run: Run, { models, round, counts }: Round): Promise<void> {
  const { server, absences, tally } = run
  const control = async (model: Model, verb: 'load' | 'unload') => {
    const { status, text } = await server.ask(`/v2/repository/models/${model}/${verb}`, '{}')
    if (status !== 200) tally.note(`${verb} ${model}: ${status} ${text}`)
  }
  const reloaded = RELOADED[round % RELOADED.length] ?? 'direct'
  await writeFile(path.join(models, reloaded, 'notes.txt'), `round ${round}`)
  await control(reloaded, 'load')
  counts.reloads += 1
  const gone = COME_AND_GO[round % COME_AND_GO.length] ?? 'cached'
  const cancels = LEFT.flatMap((model) =>
    Array.from({ length: CANCELS }, () => server.cancel(`/v2/models/${model}/infer`, writeRequest([1, 2, 3, 4]))),
  )
  counts.cancelled += cancels.length
  await absences.during(gone, async () => {
    await control(gone, 'unload')
    await new Promise((resolve) => setTimeout(resolve, 50))
    await control(gone, 'load')
  })
  counts.unloads += 1
  await Promise.all(cancels)
}

/** Models that were never away have counted every request of theirs, once. */
function checkCounters(tally: Tally, metrics: string, cancelled: number): void {
  const read = (family: string, model: Model) => {
    const lines = metrics
      .split('\n')
      .filter((line) => line.startsWith(`${family}{`) && line.includes(`model="${model}"`))
    return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
  }
  const answered = (model: Model) => tally.answered.get(model) ?? 0
  const expected = {
    direct: [answered('direct') + answered('ensemble'), 0],
    sequence: [answered('sequence'), 0],
    // Who left may have been served all the same.
    dynamic: [answered('dynamic') + answered('ensemble'), cancelled],
  } as const
  for (const [model, [least, more]] of Object.entries(expected) as [Model, readonly [number, number]][]) {
    const [success, failure] = [
      read('nv_inference_request_success', model),
      read('nv_inference_request_failure', model),
    ]
    if (success < least || success + failure > least + more) {
      tally.note(`${model}: counted ${success} + ${failure}, clients saw ${least} and left ${more}`)
    }
    const pending = read('nv_inference_pending_request_count', model)
    if (pending !== 0) tally.note(`${model}: ${pending} still wait`)
  }
}

/** Megabytes that memory grew by between the second quarter of a run and its end. */
export function measureGrowth(memory: readonly number[]): number {
  const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
  const quarter = Math.max(1, memory.length >> 2)
  return median(memory.slice(-quarter)) - median(memory.slice(quarter, 2 * quarter))
}
