import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { printFamilies } from './exposition.ts'
import { gpuFamilies, GpuWatch } from './gpus.ts'
import type { Gpu } from './nvml.ts'
import { openGpus } from './nvml.ts'

const COMPILER = ['cc', 'gcc', 'clang'].find((name) => spawnSync(name, ['--version']).status === 0)
const SOURCE = path.join(import.meta.dirname, '../../test/fixtures/nvml/fake-nvml.c')

async function watch(open: () => Promise<readonly Gpu[] | undefined>) {
  const said: string[] = []
  const gpus = new GpuWatch({ intervalMs: 60_000, open, log: (level, text) => said.push(`${level}: ${text}`) })
  onTestFinished(() => gpus.close())
  await gpus.started
  return { gpus, said, text: () => printFamilies(gpuFamilies(gpus.loads)) }
}

/** The one test that crosses into C; it needs a C compiler to make the library. */
it.skipIf(COMPILER === undefined)('reads GPUs through the calls of the NVIDIA management library', async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'nvml-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const library = path.join(directory, 'libnvidia-ml.so.1')
  execFileSync(COMPILER ?? 'cc', ['-shared', '-fPIC', '-o', library, SOURCE])
  const { gpus, said, text } = await watch(() => openGpus(library))
  await gpus.read()
  expect(text()).toBe(`# HELP nv_energy_consumption GPU energy consumption in joules since the Triton Server started
# TYPE nv_energy_consumption counter
nv_energy_consumption{gpu_uuid="GPU-0aaa"} 2.5
nv_energy_consumption{gpu_uuid="GPU-1bbb"} 0
# HELP nv_gpu_utilization GPU utilization rate [0.0 - 1.0)
# TYPE nv_gpu_utilization gauge
nv_gpu_utilization{gpu_uuid="GPU-0aaa"} 0.42
nv_gpu_utilization{gpu_uuid="GPU-1bbb"} 0
# HELP nv_gpu_memory_total_bytes GPU total memory, in bytes
# TYPE nv_gpu_memory_total_bytes gauge
nv_gpu_memory_total_bytes{gpu_uuid="GPU-0aaa"} 150000000000
nv_gpu_memory_total_bytes{gpu_uuid="GPU-1bbb"} 8
# HELP nv_gpu_memory_used_bytes GPU used memory, in bytes
# TYPE nv_gpu_memory_used_bytes gauge
nv_gpu_memory_used_bytes{gpu_uuid="GPU-0aaa"} 1000000000
nv_gpu_memory_used_bytes{gpu_uuid="GPU-1bbb"} 4
# HELP nv_gpu_power_usage GPU power usage in watts
# TYPE nv_gpu_power_usage gauge
nv_gpu_power_usage{gpu_uuid="GPU-0aaa"} 76.5
nv_gpu_power_usage{gpu_uuid="GPU-1bbb"} 0
# HELP nv_gpu_power_limit GPU power management limit in watts
# TYPE nv_gpu_power_limit gauge
nv_gpu_power_limit{gpu_uuid="GPU-0aaa"} 700
nv_gpu_power_limit{gpu_uuid="GPU-1bbb"} 0
`)
  expect(said).toEqual(['info: Collecting metrics for GPU 0: Fake A', 'info: Collecting metrics for GPU 1: Fake B'])
})

it('shows no GPU families where there is no driver', async () => {
  const { said, text } = await watch(() => openGpus('libnvidia-ml-that-is-not-there.so.1'))
  expect([text(), said]).toEqual(['', []])
})

it('asks no more for what a GPU fails to tell three times, and shows 0 for it', async () => {
  let asked = 0
  let watts: number | undefined = 50
  const gpu: Gpu = {
    uuid: 'GPU-x',
    name: 'X',
    utilization: () => Promise.resolve(0.5),
    memory: () => Promise.resolve({ total: 10, used: 3 }),
    power: () => {
      asked += 1
      return Promise.resolve(watts)
    },
    powerLimit: () => Promise.resolve(100),
    energy: () => Promise.resolve(7),
  }
  const { gpus, said } = await watch(() => Promise.resolve([gpu]))
  expect(gpus.loads).toEqual([
    { uuid: 'GPU-x', utilization: 0.5, memoryTotal: 10, memoryUsed: 3, power: 50, powerLimit: 100, energy: 0 },
  ])
  watts = undefined
  for (let i = 0; i < 5; i += 1) await gpus.read()
  expect([asked, gpus.loads[0]?.power]).toEqual([4, 0])
  expect(said.at(-1)).toBe('warning: GPU 0 did not tell its power 3 times and is not asked again')
})
