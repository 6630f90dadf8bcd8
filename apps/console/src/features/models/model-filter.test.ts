import type { ModelRow } from '@conch/server/schemas'
import { expect, it } from 'vitest'
import { countStates, filterModels, listBackends, type ModelFilter } from './model-filter.ts'

const row = (name: string, rest: Partial<ModelRow> = {}): ModelRow => ({
  name,
  state: 'READY',
  reason: '',
  versions: [],
  backend: 'onnxruntime',
  platform: '',
  maxBatchSize: 0,
  batching: 'none',
  instances: 1,
  kind: 'CPU',
  rps: 0,
  p95Us: null,
  errorRate: 0,
  requests: 0,
  ...rest,
})
const all: ModelFilter = { text: '', state: 'all', backend: '', sort: 'name', descending: false }
const rows = [
  row('model10', { rps: 5 }),
  row('model2', { rps: 5, p95Us: 10 }),
  row('broken', { state: 'UNAVAILABLE', reason: 'Internal: no such file' }),
  row('resting', { state: 'UNAVAILABLE', reason: 'unloaded', backend: 'identity' }),
  row('coming', { state: 'LOADING' }),
]
const names = (filter: Partial<ModelFilter>) => filterModels(rows, { ...all, ...filter }).map((each) => each.name)

it('sorts numbers in names as numbers', () => {
  expect(names({})).toEqual(['broken', 'coming', 'model2', 'model10', 'resting'])
})

it('keeps equal rows by name when sorted downwards', () => {
  expect(names({ sort: 'rps', descending: true }).slice(0, 2)).toEqual(['model2', 'model10'])
  expect(names({ sort: 'p95', descending: true })[0]).toBe('model2')
  expect(names({ sort: 'state' })[0]).toBe('broken')
})

it('does not call an unloaded model failed', () => {
  expect(names({ state: 'failed' })).toEqual(['broken'])
  expect(names({ state: 'idle' })).toEqual(['resting'])
  expect(countStates(rows)).toEqual({ all: 5, ready: 2, busy: 1, failed: 1, idle: 1 })
})

it('searches names, backends and reasons for every word', () => {
  expect(names({ text: 'no FILE' })).toEqual(['broken'])
  expect(names({ text: 'identity' })).toEqual(['resting'])
  expect(names({ text: 'model', backend: 'identity' })).toEqual([])
  expect(listBackends(rows)).toEqual(['identity', 'onnxruntime'])
})
