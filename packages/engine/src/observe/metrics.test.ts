import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import type { Timings } from '../request.ts'
import { printNumber } from './exposition.ts'
import { cumulate, COARSE_BOUNDS, FINE_BOUNDS, Histogram } from './histogram.ts'
import { Metrics } from './metrics.ts'
import type { Reported } from './metrics.ts'

const NONE: Reported['config'] = { metric_tags: {} }
/** Milliseconds that are exact in binary: 0.125 waiting, 0.125 in, 0.25 running, 0.125 out. */
const timings: Timings = {
  start: 1,
  queued: 1,
  computeStart: 1.125,
  computeInputEnd: 1.25,
  computeOutputStart: 1.5,
  computeEnd: 1.625,
  end: 1.625,
}
const ended = { timings, rows: 4, firstResponse: 1.5 }
const create = (config: Record<string, string> = {}) =>
  new Metrics({ enabled: true, cpu: false, intervalMs: 0, config })
const lines = async (metrics: Metrics, start: string) =>
  (await metrics.text()).split('\n').filter((line) => line.startsWith(start))

it('prints the families of the original with their texts, in its order', async () => {
  const metrics = create()
  const reporter = metrics.createReporter({ model: 'm', version: '1', config: NONE })
  reporter.request(ended, 'success')
  reporter.execution(timings, 4)
  reporter.loaded(0.25)
  const text = (await metrics.text()).split('# HELP conch_')[0] ?? ''
  expect(text).toBe(`# HELP nv_inference_request_success Number of successful inference requests, all batch sizes
# TYPE nv_inference_request_success counter
nv_inference_request_success{model="m",version="1"} 1
# HELP nv_inference_request_failure Number of failed inference requests, all batch sizes
# TYPE nv_inference_request_failure counter
nv_inference_request_failure{model="m",reason="REJECTED",version="1"} 0
nv_inference_request_failure{model="m",reason="CANCELED",version="1"} 0
nv_inference_request_failure{model="m",reason="BACKEND",version="1"} 0
nv_inference_request_failure{model="m",reason="OTHER",version="1"} 0
# HELP nv_inference_count Number of inferences performed (does not include cached requests)
# TYPE nv_inference_count counter
nv_inference_count{model="m",version="1"} 4
# HELP nv_inference_exec_count Number of model executions performed (does not include cached requests)
# TYPE nv_inference_exec_count counter
nv_inference_exec_count{model="m",version="1"} 1
# HELP nv_inference_request_duration_us Cumulative inference request duration in microseconds (includes cached requests)
# TYPE nv_inference_request_duration_us counter
nv_inference_request_duration_us{model="m",version="1"} 625
# HELP nv_inference_queue_duration_us Cumulative inference queuing duration in microseconds (includes cached requests)
# TYPE nv_inference_queue_duration_us counter
nv_inference_queue_duration_us{model="m",version="1"} 125
# HELP nv_inference_compute_input_duration_us Cumulative compute input duration in microseconds (does not include cached requests)
# TYPE nv_inference_compute_input_duration_us counter
nv_inference_compute_input_duration_us{model="m",version="1"} 125
# HELP nv_inference_compute_infer_duration_us Cumulative compute inference duration in microseconds (does not include cached requests)
# TYPE nv_inference_compute_infer_duration_us counter
nv_inference_compute_infer_duration_us{model="m",version="1"} 250
# HELP nv_inference_compute_output_duration_us Cumulative inference compute output duration in microseconds (does not include cached requests)
# TYPE nv_inference_compute_output_duration_us counter
nv_inference_compute_output_duration_us{model="m",version="1"} 125
# HELP nv_inference_pending_request_count Instantaneous number of pending requests awaiting execution per-model.
# TYPE nv_inference_pending_request_count gauge
nv_inference_pending_request_count{model="m",version="1"} 0
# HELP nv_model_load_duration_secs Model load time in seconds
# TYPE nv_model_load_duration_secs gauge
nv_model_load_duration_secs{model="m",version="1"} 0.25
# HELP nv_pinned_memory_pool_total_bytes Pinned memory pool total memory size, in bytes
# TYPE nv_pinned_memory_pool_total_bytes gauge
nv_pinned_memory_pool_total_bytes 0
# HELP nv_pinned_memory_pool_used_bytes Pinned memory pool used memory size, in bytes
# TYPE nv_pinned_memory_pool_used_bytes gauge
nv_pinned_memory_pool_used_bytes 0
`)
})

it('counts each end once, under its reason', async () => {
  const metrics = create()
  const reporter = metrics.createReporter({ model: 'm', version: '1', config: NONE })
  for (const outcome of ['rejected', 'cancelled', 'backend', 'other', 'backend'] as const)
    reporter.request(ended, outcome)
  expect(reporter.failures).toEqual({ REJECTED: 1, CANCELED: 1, BACKEND: 2, OTHER: 1 })
  expect(reporter.statistics.inference_stats).toMatchObject({
    success: { count: 0 },
    fail: { count: 5, ns: 3_125_000 },
  })
  expect(await lines(metrics, 'nv_inference_request_failure{model="m",reason="BACKEND"')).toEqual([
    'nv_inference_request_failure{model="m",reason="BACKEND",version="1"} 2',
  ])
})

it('removes series with the version, but its failures stay', async () => {
  const metrics = create()
  const first = metrics.createReporter({ model: 'm', version: '1', config: NONE })
  first.request(ended, 'success')
  first.request(ended, 'backend')
  first.close()
  expect(await lines(metrics, 'nv_inference_request_success')).toEqual([])
  expect(await lines(metrics, 'nv_inference_request_failure{model="m",reason="BACKEND"')).toHaveLength(1)
  const second = metrics.createReporter({ model: 'm', version: '1', config: NONE })
  expect(second.statistics.inference_stats.success.count).toBe(0)
  expect(await lines(metrics, 'nv_inference_request_success')).toEqual([
    'nv_inference_request_success{model="m",version="1"} 0',
  ])
})

it('never lets counters fall while a version is reloaded', async () => {
  const metrics = create()
  const old = metrics.createReporter({ model: 'm', version: '1', config: NONE })
  old.request(ended, 'success')
  const fresh = metrics.createReporter({ model: 'm', version: '1', config: NONE })
  fresh.request(ended, 'success')
  old.close()
  expect(await lines(metrics, 'nv_inference_request_success')).toEqual([
    'nv_inference_request_success{model="m",version="1"} 2',
  ])
  expect(await lines(metrics, 'conch_inference_request_duration_seconds_count')).toEqual([
    'conch_inference_request_duration_seconds_count{model="m",version="1"} 2',
  ])
  expect(fresh.statistics.inference_count).toBe(4)
})

it('adds tags and a namespace as labels, sorted and escaped', async () => {
  const metrics = new Metrics({ enabled: true, cpu: false, intervalMs: 0, config: {}, namespacing: true })
  metrics.createReporter({
    model: 'm"x',
    version: '1',
    namespace: '/repo\\',
    config: { metric_tags: { team: 'blue' } },
  })
  expect(await lines(metrics, 'nv_inference_count')).toEqual([
    'nv_inference_count{_team="blue",model="m\\"x",namespace="/repo\\\\",version="1"} 0',
  ])
})

it('switches families on and off', async () => {
  const off = create({ counter_latencies: 'false' })
  off.createReporter({ model: 'm', version: '1', config: NONE })
  const text = await off.text()
  for (const absent of [
    'nv_inference_request_duration_us',
    'nv_cpu_utilization',
    'summary',
    'first_response',
    'nv_cache',
  ]) {
    expect(text).not.toContain(absent)
  }
  expect(text).toContain('nv_inference_request_success')
  const disabled = new Metrics({ enabled: false, cpu: true, intervalMs: 0, config: {} })
  disabled.createReporter({ model: 'm', version: '1', config: NONE })
  expect(await disabled.text()).toBe('')
})

it('prints summaries with the chosen quantiles', async () => {
  const metrics = create({ summary_latencies: 'true', summary_quantiles: '0.5:0.05,zzz,0.9:0.01,2:0.1' })
  const reporter = metrics.createReporter({ model: 'm', version: '1', config: NONE })
  expect(await lines(metrics, 'nv_inference_queue_summary_us')).toEqual([
    'nv_inference_queue_summary_us_count{model="m",version="1"} 0',
    'nv_inference_queue_summary_us_sum{model="m",version="1"} 0',
    'nv_inference_queue_summary_us{model="m",version="1",quantile="0.5"} Nan',
    'nv_inference_queue_summary_us{model="m",version="1",quantile="0.9"} Nan',
  ])
  for (let i = 0; i < 5; i++) reporter.request(ended, 'success')
  expect(await lines(metrics, 'nv_inference_request_summary_us')).toEqual([
    'nv_inference_request_summary_us_count{model="m",version="1"} 5',
    'nv_inference_request_summary_us_sum{model="m",version="1"} 3125',
    'nv_inference_request_summary_us{model="m",version="1",quantile="0.5"} 625',
    'nv_inference_request_summary_us{model="m",version="1",quantile="0.9"} 625',
  ])
})

it("prints the time to the first response where it is wanted, with a model's own buckets", async () => {
  const metrics = create({ histogram_latencies: 'true' })
  const control = {
    metric_identifier: { family: 'nv_inference_first_response_histogram_ms' },
    histogram_options: { buckets: [4, 1] },
  }
  const reporter = metrics.createReporter({
    model: 'm',
    version: '1',
    config: { metric_tags: {}, model_metrics: { metric_control: [control] } },
  })
  reporter.request({ ...ended, firstResponse: 4.2 }, 'success')
  expect(await lines(metrics, 'nv_inference_first_response_histogram_ms')).toEqual([
    'nv_inference_first_response_histogram_ms_count{model="m",version="1"} 1',
    'nv_inference_first_response_histogram_ms_sum{model="m",version="1"} 3',
    'nv_inference_first_response_histogram_ms_bucket{model="m",version="1",le="1"} 0',
    'nv_inference_first_response_histogram_ms_bucket{model="m",version="1",le="4"} 1',
    'nv_inference_first_response_histogram_ms_bucket{model="m",version="1",le="+Inf"} 1',
  ])
})

it('shows custom metrics of models beside its own', async () => {
  const metrics = create()
  const family = metrics.createFamily('counter', 'conf_requests_total', 'asked')
  family.createSeries({ site: 'a b' }, undefined).increment(2)
  expect(await lines(metrics, 'conf_requests_total')).toEqual(['conf_requests_total{site="a b"} 2'])
  family.close()
  expect(await metrics.text()).not.toContain('conf_requests_total')
})

it('keeps the names of all its own families', async () => {
  const config = { summary_latencies: 'true', histogram_latencies: 'true' }
  const processes = () => [{ model: 'm', version: '1', instance: 'm_0_0', pid: process.pid, restarts: 3 }]
  const metrics = new Metrics({ enabled: true, cpu: true, intervalMs: 0, config, processes })
  metrics.createReporter({ model: 'm', version: '1', config: { metric_tags: {}, response_cache: undefined } as never })
  const names = [...(await metrics.text()).matchAll(/^# TYPE (\S+)/gm)].flatMap(([, name]) => name ?? [])
  expect(names.length).toBeGreaterThan(20)
  expect(names).toEqual(
    expect.arrayContaining(['conch_instance_cpu_seconds_total', 'conch_instance_resident_memory_bytes']),
  )
  for (const name of names) {
    expect(() => metrics.createFamily('gauge', name, '')).toThrow(`Family name '${name}' is the server's own`)
  }
  expect(await lines(metrics, 'conch_instance_restarts_total')).toEqual([
    'conch_instance_restarts_total{instance="m_0_0",model="m",version="1"} 3',
  ])
  metrics.close()
})

it('makes no families where metrics are off', () => {
  const metrics = new Metrics({ enabled: false, cpu: false, intervalMs: 0, config: {} })
  expect(() => metrics.createFamily('gauge', 'mine', '')).toThrow('metrics not supported')
})

it('reads the machine', async () => {
  const metrics = new Metrics({ enabled: true, cpu: true, intervalMs: 2_000, config: {} })
  await expect.poll(() => lines(metrics, 'nv_cpu_memory_total_bytes')).not.toEqual(['nv_cpu_memory_total_bytes 0'])
  metrics.close()
})

it('keeps buckets whose coarse view is part of the fine one', () => {
  const histogram = new Histogram(FINE_BOUNDS)
  for (const value of [50, 51, 1_000, 1e9]) histogram.observe(value)
  const counts = cumulate(histogram, COARSE_BOUNDS)
  expect(COARSE_BOUNDS).toEqual([50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 2e6, 5e6, 1e7])
  expect(counts).toHaveLength(COARSE_BOUNDS.length + 1)
  expect([counts[0], counts[1], counts[4], counts.at(-2), counts.at(-1)]).toEqual([1, 2, 3, 3, 4])
})

it.each<[number, string]>([
  [0, '0'],
  [1e15, '1000000000000000'],
  [0.1 + 0.2, '0.3'],
  [Number.NaN, 'Nan'],
  [Infinity, '+Inf'],
  [-Infinity, '-Inf'],
])('prints %d as %s', (value, text) => {
  expect(printNumber(value)).toBe(text)
})

const ORIGINAL = readFileSync(
  path.join(import.meta.dirname, '../../test/fixtures/families-of-the-original.txt'),
  'utf8',
)
const EMPTY_CACHE = {
  utilisation: 0,
  entries: 0,
  hits: 0,
  misses: 0,
  lookups: 0,
  evictions: 0,
  lookupUs: 0,
  insertUs: 0,
}
const GPU = {
  uuid: 'GPU-1',
  name: '',
  utilization: () => Promise.resolve(0),
  memory: () => Promise.resolve({ total: 0, used: 0 }),
  power: () => Promise.resolve(0),
  powerLimit: () => Promise.resolve(0),
  energy: () => Promise.resolve(0),
}

it('has every family of the original, of its kind and with its text', async () => {
  const metrics = new Metrics({
    enabled: true,
    cpu: true,
    gpu: true,
    intervalMs: 0,
    config: { summary_latencies: 'true', histogram_latencies: 'true' },
    openGpus: () => Promise.resolve([GPU]),
  })
  metrics.cacheNumbers = () => EMPTY_CACHE
  for (const cached of [false, true]) {
    metrics.createReporter({ model: `m${cached}`, version: '1', cached, config: NONE })
  }
  await expect.poll(() => metrics.text()).toContain('nv_gpu_utilization')
  const text = await metrics.text()
  const shown = [...text.matchAll(/^# HELP (nv_\S+) (.*)\n# TYPE \S+ (\w+)$/gm)].map(
    ([, name, help, kind]) => `${kind} ${name} ${help}`,
  )
  expect(shown.toSorted()).toEqual(ORIGINAL.trim().split('\n').toSorted())
  metrics.close()
})

it('tells what it ignores of its settings', () => {
  const said: string[] = []
  const log = (level: string, text: string) => said.push(`${level}: ${text}`)
  const metrics = new Metrics({
    enabled: true,
    cpu: false,
    intervalMs: 0,
    config: { summary_quantiles: '0.5:0.05,x' },
    log,
  })
  const control = { metric_identifier: { family: 'nv_inference_count' }, histogram_options: { buckets: [1] } }
  const config = { metric_tags: {}, model_metrics: { metric_control: [control] } }
  metrics.createReporter({ model: 'm', version: '1', config })
  expect(said).toEqual([
    "error: --metrics-config summary_quantiles: 'x' is not <quantile>:<error> and is ignored",
    "warning: model 'm' configures the metric family 'nv_inference_count', which has no settings; ignored",
  ])
})
