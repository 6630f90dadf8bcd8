import type { Datatype } from '@conch/protocol'
import { expect, it } from 'vitest'
import { viewOutput } from './view-output.ts'

const view = (datatype: Datatype, data: ArrayBufferView, shape: number[], labels?: string[]) =>
  viewOutput(
    { name: 'y', datatype, shape, data: new Uint8Array(data.buffer, data.byteOffset, data.byteLength) },
    labels,
  )

it('writes numbers exactly, in the fewest digits of their own width', async () => {
  const longs = await view('INT64', BigInt64Array.of(9007199254740993n, -9223372036854775808n), [2])
  expect(longs.preview).toEqual(['9007199254740993', '-9223372036854775808'])
  expect(longs.stats).toMatchObject({ min: '-9223372036854775808', max: '9007199254740993' })
  expect((await view('UINT64', BigUint64Array.of(18446744073709551615n), [1])).preview).toEqual([
    '18446744073709551615',
  ])
  expect((await view('FP32', Float32Array.of(0.1, 1e-45, -0, NaN, Infinity, 16777216), [6])).preview).toEqual([
    '0.1',
    '1e-45',
    '-0',
    'NaN',
    'Infinity',
    '16777216',
  ])
  expect((await view('FP16', Uint16Array.of(0x2e66, 0x0001, 0xfc00, 0x7e00, 0x3c00), [5])).preview).toEqual([
    '0.1',
    '6e-8',
    '-Infinity',
    'NaN',
    '1',
  ])
  expect((await view('BF16', Uint16Array.of(0x3dcd, 0x4049), [2])).preview).toEqual(['0.1', '3.14'])
  expect((await view('BOOL', Uint8Array.of(0, 1), [2])).preview).toEqual(['false', 'true'])
})

it('leaves NaN out of the statistics and counts it', async () => {
  expect((await view('FP32', Float32Array.of(NaN, 2, 0, 4), [4])).stats).toEqual({
    min: '0',
    max: '4',
    mean: '2',
    nan: 1,
    zero: 1,
  })
  expect((await view('FP32', Float32Array.of(NaN), [1])).stats).toEqual({
    min: 'NaN',
    max: 'NaN',
    mean: 'NaN',
    nan: 1,
    zero: 0,
  })
  expect((await view('FP32', new Float32Array(0), [0])).stats).toBeNull()
})

it('shows texts as texts and other bytes as hexadecimal', async () => {
  const element = (bytes: Buffer) => Buffer.concat([Buffer.from(Uint32Array.of(bytes.byteLength).buffer), bytes])
  const data = Buffer.concat([
    element(Buffer.from('héllo\0')),
    element(Buffer.from([0xff, 0x00])),
    element(Buffer.alloc(0)),
  ])
  const shown = await view('BYTES', data, [3])
  expect([shown.preview, shown.stats, shown.count]).toEqual([['héllo\0', '0xff00', ''], null, 3])
})

it('ranks scores with their labels, and only what looks like scores', async () => {
  const scores = Float32Array.of(0.1, 0.5, NaN, 0.5)
  expect((await view('FP32', scores, [1, 4], ['a', 'b'])).topk).toEqual([
    { index: 1, label: 'b', value: '0.5' },
    { index: 3, label: null, value: '0.5' },
    { index: 0, label: 'a', value: '0.1' },
  ])
  expect((await view('FP32', scores, [2, 2])).topk).toBeUndefined()
  expect((await view('INT32', Int32Array.of(1, 2), [2])).topk).toBeUndefined()
})

it('carries bytes of outputs that are not too large, and a preview of all', async () => {
  const small = await view('UINT8', Uint8Array.of(1, 2), [2])
  expect(small.bytesBase64).toBe('AQI=')
  const large = await view('UINT8', new Uint8Array(5_000_000), [5_000_000])
  expect([large.bytesBase64, large.preview.length, large.stats?.zero]).toEqual([undefined, 1000, 5_000_000])
})
