import { randomUUID } from 'node:crypto'
import { readFileSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs'
import { createRequest } from '@conch/protocol'
import type { InferRequest } from '@conch/protocol'
import { expect, it, onTestFinished, vi } from 'vitest'
import { openCudaRegion } from './cuda.ts'
import type { CudaRuntime } from './cuda.ts'
import { Regions } from './regions.ts'

/** A POSIX shared memory object of these bytes, removed when the test ends. */
function makeObject(bytes: Uint8Array) {
  const key = `/conch_test_${randomUUID()}`
  const path = `/dev/shm${key}`
  writeFileSync(path, bytes)
  onTestFinished(() => unlinkSync(path))
  return { key, path }
}

function makeRequest(change: Partial<InferRequest>): InferRequest {
  return { ...createRequest({ model: 'm', version: '' }), ...change }
}
const input = (name: string, offset: number, byteSize: number, region = 'r') =>
  ({
    name,
    datatype: 'UINT8',
    shape: [byteSize],
    data: new Uint8Array(0),
    region: { name: region, offset, byteSize },
  }) as const
const output = (name: string, offset: number, byteSize: number) =>
  ({ name, binary: true, classification: 0, region: { name: 'r', offset, byteSize } }) as const
const answer = (name: string, bytes: readonly number[]) => ({
  model: 'm',
  version: '1',
  id: '',
  parameters: {},
  outputs: [{ name, datatype: 'UINT8' as const, shape: [bytes.length], data: Uint8Array.from(bytes) }],
})

it('lends inputs where they lie and writes outputs where they are wanted', () => {
  const { key, path } = makeObject(Uint8Array.from({ length: 64 }, (_, i) => i))
  const regions = new Regions()
  regions.registerSystem('r', { key, offset: 8, byteSize: 56 })
  const request = makeRequest({ inputs: [input('IN', 4, 3)], outputs: [output('OUT', 20, 4)] })
  const lease = regions.lend(request)
  expect([...(request.inputs[0]?.data ?? [])]).toEqual([12, 13, 14])
  expect(lease?.deliver(answer('OUT', [1, 2, 3])).outputs[0]?.data).toHaveLength(0)
  expect([...readFileSync(path).subarray(26, 34)]).toEqual([26, 27, 1, 2, 3, 31, 32, 33])
  expect(lease?.deliver(answer('OTHER', [9])).outputs[0]?.data).toHaveLength(1)
  lease?.end()
  expect(request.inputs[0]?.data).toHaveLength(0)
})

it('leaves requests alone that use no region', () => {
  expect(new Regions().lend(makeRequest({}))).toBeUndefined()
})

it.each([
  ['an unknown region', { inputs: [input('IN', 0, 4, 'zz')] }, "Unable to find shared memory region: 'zz'"],
  [
    'bytes beyond the region',
    { inputs: [input('IN', 30, 4)] },
    "Invalid offset + byte size for shared memory region: 'r'",
  ],
  ['no bytes', { inputs: [input('IN', 0, 0)] }, "Invalid offset + byte size for shared memory region: 'r'"],
  ['an offset beyond 2^53', { outputs: [output('O', 2 ** 64, 4)] }, 'Invalid offset + byte size'],
])('refuses %s', (_, change, text) => {
  const { key } = makeObject(new Uint8Array(32))
  const regions = new Regions()
  regions.registerSystem('r', { key, offset: 0, byteSize: 32 })
  expect(() => regions.lend(makeRequest(change))).toThrow(text)
})

it('never writes beyond what an output was given', () => {
  const { key, path } = makeObject(new Uint8Array(16).fill(7))
  const regions = new Regions()
  regions.registerSystem('r', { key, offset: 0, byteSize: 16 })
  const lease = regions.lend(makeRequest({ outputs: [output('O', 8, 4)] }))
  expect(() => lease?.deliver(answer('O', [1, 2, 3, 4, 5]))).toThrow(
    "for output 'O' (4 bytes) should be at least 5 bytes to hold the results",
  )
  expect([...readFileSync(path)]).toEqual(new Array(16).fill(7))
})

it('notices that an object has become smaller, before touching it', () => {
  const { key, path } = makeObject(new Uint8Array(8_192))
  const regions = new Regions()
  regions.registerSystem('r', { key, offset: 0, byteSize: 8_192 })
  const lease = regions.lend(makeRequest({ outputs: [output('O', 4_096, 4)] }))
  truncateSync(path, 100)
  expect(() => regions.lend(makeRequest({ inputs: [input('IN', 4_096, 4)] }))).toThrow(/has become smaller.*100 bytes/)
  expect(() => lease?.deliver(answer('O', [1]))).toThrow(/has become smaller/)
})

it.each([
  ['no such object', { key: '/conch_never' }, "Unable to open shared memory region: '/conch_never'"],
  ['a path', { key: '/../etc/passwd' }, "Unable to open shared memory region: '/../etc/passwd'"],
  ['slashes alone', { key: '///' }, "cannot register shared memory region 'r' - invalid shm key '///'"],
  ['a reserved prefix', { key: '/triton_python_backend_shm_region_1' }, 'contains the reserved prefix'],
  ['more than there is', { byteSize: 33 }, "failed to register shared memory region 'r': invalid args"],
  ['nothing', { byteSize: 0 }, 'invalid args'],
  ['a place beyond the end', { offset: 2 ** 60 }, 'invalid args'],
])('registers never: %s', (_, change, text) => {
  const { key } = makeObject(new Uint8Array(32))
  expect(() => new Regions().registerSystem('r', { key, offset: 0, byteSize: 32, ...change })).toThrow(text)
})

it('keeps a region until the last request that uses it has ended', () => {
  const close = vi.fn<() => void>()
  const region = {
    kind: 'system',
    name: 'r',
    key: '/k',
    offset: 0,
    byteSize: 8,
    deviceId: 0,
    read: () => new Uint8Array(4),
    write: () => undefined,
    close,
  } as const
  const regions = new Regions({ system: () => region, cuda: () => region })
  regions.registerSystem('r', { key: '/k', offset: 0, byteSize: 8 })
  expect(() => regions.registerCuda('r', { handle: new Uint8Array(64), deviceId: 0, byteSize: 8 })).toThrow(
    "shared memory region 'r' already in manager",
  )
  const lease = regions.lend(makeRequest({ inputs: [input('IN', 0, 4)] }))
  regions.unregister('cuda', 'r')
  expect(regions.status('system', '')).toHaveLength(1)
  expect(() => regions.status('cuda', 'r')).toThrow('is registered as system shared memory, not CUDA shared memory')
  regions.unregister('system', '')
  expect(() => regions.status('system', 'r')).toThrow("Unable to find system shared memory region: 'r'")
  expect(close).not.toHaveBeenCalled()
  lease?.end()
  expect(close).toHaveBeenCalledTimes(1)
})

it('copies to and from a GPU through the CUDA runtime', () => {
  const copied: unknown[][] = []
  const runtime: CudaRuntime = {
    setDevice: (device) => (device === 0 ? 0 : 101),
    openHandle: (pointer) => {
      pointer[0] = 4_096n
      return 0
    },
    closeHandle: () => 0,
    copy: (...call) => {
      copied.push(call)
      return call[2] === 3 ? 700 : 0
    },
  }
  const memory = { handle: new Uint8Array(64), deviceId: 0, byteSize: 32 }
  const region = openCudaRegion('c', memory, runtime)
  expect(region.read(8, 4)).toHaveLength(4)
  region.write(16, Uint8Array.of(1, 2))
  expect(copied).toEqual([
    [new Uint8Array(4), 4_104n, 4, 2],
    [4_112n, Uint8Array.of(1, 2), 2, 1],
  ])
  expect(() => region.read(0, 3)).toThrow("CUDA error 700 while copying shared memory region 'c'")
  expect(() => openCudaRegion('c', { ...memory, deviceId: 1 }, runtime)).toThrow('invalid args')
  expect(() => openCudaRegion('c', memory)).toThrow(
    "failed to register CUDA shared memory region: 'c', GPUs not supported",
  )
})
