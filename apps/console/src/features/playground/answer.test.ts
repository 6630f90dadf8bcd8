import type { OutputView } from '@conch/server/schemas'
import { expect, it } from 'vitest'
import { bestOfRows, compareAnswers, makeHistogram, readClasses, readNumbers } from './answer.ts'

const output = (rest: Partial<OutputView>): OutputView => ({
  name: 'y',
  datatype: 'FP32',
  shape: [2],
  stats: null,
  preview: [],
  count: 2,
  ...rest,
})
const base64 = (array: ArrayBufferView) => Buffer.from(array.buffer).toString('base64')

it('reads bytes of every width', () => {
  expect([...(readNumbers(output({ bytesBase64: base64(new Float32Array([1.5, -2])) })) ?? [])]).toEqual([1.5, -2])
  expect([
    ...(readNumbers(output({ datatype: 'INT64', bytesBase64: base64(new BigInt64Array([-3n, 4n])) })) ?? []),
  ]).toEqual([-3, 4])
  expect([
    ...(readNumbers(output({ datatype: 'BF16', bytesBase64: base64(new Uint16Array([0x3f80, 0xc000])) })) ?? []),
  ]).toEqual([1, -2])
  expect([...(readNumbers(output({ datatype: 'BOOL', preview: ['true', 'false'] })) ?? [])]).toEqual([1, 0])
  expect(readNumbers(output({ datatype: 'BYTES', preview: ['a'] }))).toBeNull()
})

it('compares two answers', () => {
  const one = output({ bytesBase64: base64(new Float32Array([1, 2])) })
  const two = output({ bytesBase64: base64(new Float32Array([1, 2.25])) })
  expect(compareAnswers([one], [two])).toEqual([{ output: 'y', largest: 0.25, note: 'at most 0.25 apart' }])
  expect(compareAnswers([one], [one])[0]?.note).toBe('the same')
  expect(compareAnswers([one], [output({ shape: [1, 2] })])[0]?.note).toBe('shape [2] before')
  expect(compareAnswers([], [one])[0]?.note).toBe('only in this one')
})

it('treats NaN as equal to NaN only', () => {
  const nan = output({ preview: ['NaN', '1'] })
  expect(compareAnswers([nan], [nan])[0]?.largest).toBe(0)
  expect(compareAnswers([nan], [output({ preview: ['0', '1'] })])[0]?.largest).toBe(Infinity)
})

it('spreads numbers over bins and leaves none out', () => {
  const bins = makeHistogram(
    Array.from({ length: 100 }, (_, index) => index),
    10,
  )
  expect(bins.map((bin) => bin.count)).toEqual(new Array(10).fill(10))
  expect(makeHistogram([1, 1, 1], 10)).toEqual([])
})

it('reads classes from texts, and only from such texts', () => {
  const texts = (...preview: string[]) => readClasses(output({ datatype: 'BYTES', preview }))
  expect(texts('0.97:1:versicolor', '1e-3:0')).toEqual([
    { value: '0.97', index: 1, label: 'versicolor' },
    { value: '1e-3', index: 0, label: null },
  ])
  expect(texts('0.97:1:a', 'hello')).toBeNull()
  expect(readClasses(output({ preview: ['1:2'] }))).toBeNull()
})

it('finds the best class of every row of a batch', () => {
  const scores = output({
    shape: [2, 3],
    topk: [],
    bytesBase64: base64(new Float32Array([0.1, 0.7, 0.2, 0.5, 0.25, 0.25])),
  })
  expect(bestOfRows(scores)?.map((row) => row.index)).toEqual([1, 0])
  expect(bestOfRows(output({ shape: [1, 3], topk: [] }))).toBeNull()
  expect(bestOfRows(output({ shape: [2, 3] }))).toBeNull()
})
