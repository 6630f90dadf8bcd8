import type { ServerInfo } from '@conch/server/schemas'
import { expect, it } from 'vitest'
import { isAllowed, reachServer } from './session.tsx'

const server: ServerInfo = {
  name: 'triton',
  version: '1',
  httpUrl: 'http://0.0.0.0:8000',
  grpcUrl: null,
  metricsUrl: 'http://[::]:8002/metrics',
  repositories: [],
  controlMode: 'explicit',
}

it('names an address that can be reached instead of "everywhere"', () => {
  expect(reachServer(server, '10.0.0.7')).toMatchObject({
    httpUrl: 'http://10.0.0.7:8000',
    grpcUrl: null,
    metricsUrl: 'http://10.0.0.7:8002/metrics',
  })
  expect(reachServer({ ...server, httpUrl: 'http://127.0.0.1:8000' }, 'x').httpUrl).toBe('http://127.0.0.1:8000')
})

it('ranks roles', () => {
  expect(isAllowed('admin', 'editor')).toBe(true)
  expect(isAllowed('viewer', 'operator')).toBe(false)
  expect(isAllowed('operator', 'operator')).toBe(true)
})
