import type { Services } from '../context.ts'
import type { InstancesNow } from './models.schema.ts'

/** The instances of every version that serves, and the processes that some of them run in. */
export async function listInstances({ engine }: Services, { model }: { model: string }): Promise<InstancesNow> {
  const ready = (await engine.index(true)).filter(({ name }) => name === model)
  const versions = ready.flatMap(({ version }) => (version === undefined ? [] : [version]))
  const rows = await Promise.all(
    versions.map(async (version) => {
      // It may have been unloaded since.
      const instances = await engine.instances(model, version).catch(() => [])
      return instances.map(({ name, healthy, process }) => ({
        version,
        name,
        healthy,
        process:
          process === undefined
            ? null
            : {
                pid: process.pid,
                restarts: process.restarts,
                lastExit: process.lastExit ?? null,
                cpuSeconds: process.usage?.cpuSeconds ?? null,
                residentBytes: process.usage?.residentBytes ?? null,
              },
      }))
    }),
  )
  return { at: Date.now(), instances: rows.flat() }
}
