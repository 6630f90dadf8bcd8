import { spawn } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { makeOnnx } from './admin/onnx-file.ts'
import { putFiles } from './admin/stand.ts'

const CONCH = path.join(import.meta.dirname, '../../../bin/conch')
const CONFIG = `backend: "onnxruntime" max_batch_size: 8 version_policy { all { } }
  input { name: "x" data_type: TYPE_FP32 dims: [ 4 ] } output { name: "scores" data_type: TYPE_FP32 dims: [ 4 ] }`

/** The appliance as a person starts it, with a model whose second version is wrong. */
async function startAppliance(traffic: object) {
  const base = mkdtempSync(path.join(tmpdir(), 'conch-rollout-'))
  const models = path.join(base, 'models')
  await putFiles(models, {
    'm/config.pbtxt': CONFIG,
    'm/1/model.onnx': makeOnnx('Neg'),
    'm/2/model.onnx': makeOnnx('Abs'),
    'm/traffic.json': JSON.stringify(traffic),
  })
  const args = [
    `--model-repository=${models}`,
    `--data-dir=${path.join(base, 'data')}`,
    '--http-port=0',
    '--grpc-port=0',
  ]
  const child = spawn(CONCH, ['up', ...args, '--metrics-port=0', '--console-port=0', '--http-address=127.0.0.1'])
  let output = ''
  const lines = new Promise<string>((resolve) => {
    const read = (chunk: Buffer) => {
      output += chunk.toString()
      if (/Metrics: /.test(output)) resolve(output)
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
  })
  const ended = new Promise((resolve) => child.on('close', resolve))
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
    await rm(base, { recursive: true, force: true })
  })
  const printed = await lines
  const find = (pattern: RegExp) => pattern.exec(printed)?.[1] ?? ''
  const [url, console] = [find(/Models: +(\S+)/), find(/Console: +(\S+)/)]
  return { url, metrics: find(/Metrics: +(\S+)/), admin: openAdmin(console), models, output: () => output }
}

/** Calls procedures of the console as its first account. */
function openAdmin(printed: string) {
  const { origin } = new URL(printed)
  let cookie = ''
  return {
    async post(procedure: string, input: object) {
      const headers = { 'content-type': 'application/json', origin, cookie }
      const answer = await fetch(`${origin}/api/trpc/${procedure}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(input),
      })
      cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? cookie
      return (await answer.json()) as { result?: { data: unknown }; error?: { message: string } }
    },
    async get(procedure: string, input: object): Promise<Record<string, unknown>> {
      const query = encodeURIComponent(JSON.stringify(input))
      const answer = await fetch(`${origin}/api/trpc/${procedure}?input=${query}`, { headers: { cookie } })
      return ((await answer.json()) as { result: { data: Record<string, unknown> } }).result.data
    },
  }
}

const REQUEST = JSON.stringify({ inputs: [{ name: 'x', datatype: 'FP32', shape: [1, 4], data: [1, 2, 3, 4] }] })

async function infer(url: string, where = '', headers: Record<string, string> = {}) {
  const answer = await fetch(`${url}/v2/models/m${where}/infer`, { method: 'POST', body: REQUEST, headers })
  const body = (await answer.json()) as { model_version?: string; outputs?: { data: number[] }[]; error?: string }
  return { status: answer.status, version: body.model_version, data: body.outputs?.[0]?.data, error: body.error }
}

it('rolls a wrong canary back by itself, and log, audit and metrics say why', { timeout: 60_000 }, async () => {
  const { url, metrics, admin, models, output } = await startAppliance({
    labels: { stable: 1, canary: 2 },
    split: { stable: 90, canary: 10 },
    shadow: { version: 'canary', percent: 50, tolerance: { absolute: 0.001 } },
    rollback: { mismatch_percent: 5, min_requests: 10, window_seconds: 30 },
  })
  await admin.post('account.setup', { name: 'root', password: 'correct horse battery' })
  const versions: (string | undefined)[] = []
  await vi.waitFor(
    async () => {
      const { status, version } = await infer(url)
      expect(status).toBe(200)
      versions.push(version)
      expect(await admin.get('rollout.get', { model: 'm' })).toMatchObject({
        policy: { rolledBack: [{ version: '2' }] },
      })
    },
    { timeout: 30_000, interval: 1 },
  )
  // Until then one request in ten went to the canary; from now on none does.
  expect(versions.filter((version) => version === '2').length).toBe(Math.floor((versions.length + 4) / 10))
  for (let i = 0; i < 30; i++) expect((await infer(url)).version).toBe('1')
  const why =
    /of \d+ shadow answers differed in the last 30 s: 100 %, the limit is 5 %; the last one: output 'scores' has element 0 = 1 instead of -1/
  expect(output()).toMatch(new RegExp(`traffic: model 'm' version 2 rolled back to 1: 10 ${why.source}`))
  const audit = await vi.waitFor(async () => {
    const { rows } = (await admin.get('audit.list', { object: 'm' })) as { rows: Record<string, string>[] }
    expect(rows).toHaveLength(1)
    return rows[0]
  })
  expect(audit).toMatchObject({ who: '(server)', from: 'traffic policy', action: 'rollout.rollBack', outcome: 'done' })
  expect(audit?.['detail']).toMatch(why)
  expect(await (await fetch(metrics)).text()).toContain('conch_traffic_rollbacks_total{model="m"} 1')
  const file = path.join(models, 'm/traffic.json')
  await vi.waitFor(async () => expect(await readFile(file, 'utf8')).toContain('shadow answers differed'))
})

it('takes labels wherever a version is given, and the policy of a person', { timeout: 60_000 }, async () => {
  const { url, admin } = await startAppliance({
    labels: { stable: 1 },
    sticky: { header: 'x-user' },
    split: { 1: 50, 2: 50 },
  })
  expect(await infer(url, '/versions/stable')).toMatchObject({ status: 200, version: '1', data: [-1, -2, -3, -4] })
  expect(await infer(url, '/versions/2')).toMatchObject({ status: 200, version: '2', data: [1, 2, 3, 4] })
  for (const path of ['', '/ready', '/config', '/stats']) {
    expect((await fetch(`${url}/v2/models/m/versions/stable${path}`)).status).toBe(200)
  }
  const stats = (await (await fetch(`${url}/v2/models/m/versions/stable/stats`)).json()) as { model_stats: object[] }
  expect(stats.model_stats).toMatchObject([{ version: '1' }])
  const unknown = await fetch(`${url}/v2/models/m/versions/nightly/infer`, { method: 'POST', body: REQUEST })
  expect([unknown.status, await unknown.text()]).toEqual([404, '{"error":"Not Found"}'])
  const seen = new Set<string | undefined>()
  for (let user = 0; user < 12; user++) {
    const headers = { 'X-User': `user ${user}` }
    const { version } = await infer(url, '', headers)
    seen.add(version)
    for (let i = 0; i < 3; i++) expect((await infer(url, '', headers)).version).toBe(version)
  }
  expect(seen).toEqual(new Set(['1', '2']))

  await admin.post('account.setup', { name: 'root', password: 'correct horse battery' })
  const refused = await admin.post('rollout.set', { model: 'm', text: '{"split": {"1": 90}}' })
  expect(refused.error?.message).toBe('traffic.json: split sums up to 90; the weights must sum up to 100')
  expect((await admin.post('rollout.set', { model: 'm', text: '{"split": {"2": 100}}' })).error).toBeUndefined()
  for (let i = 0; i < 5; i++) expect((await infer(url)).version).toBe('2')
  const { rows } = (await admin.get('audit.list', { object: 'm' })) as { rows: Record<string, string>[] }
  expect(rows.map(({ who, action }) => `${who} ${action}`)).toEqual(['root rollout.set', 'root rollout.set'])
})
