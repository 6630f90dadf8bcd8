import { expect, it } from 'vitest'
import { describeUploadError, makeRateMeter } from './upload-batch.ts'

it('measures the rate of the last seconds only', () => {
  const meter = makeRateMeter()
  expect(meter(0, 0)).toBe(0)
  expect(meter(1000, 1000)).toBe(1000)
  meter(1000, 9000)
  expect(meter(3000, 10_000)).toBe(2000)
  expect(meter(3000, 10_050)).toBeGreaterThan(0)
})

it('repeats the server’s own words', () => {
  const answer = (status: number, body: string) => ({
    originalResponse: { getStatus: () => status, getBody: () => body },
  })
  expect(describeUploadError(answer(413, 'at most 8 GiB'))).toBe('at most 8 GiB')
  expect(describeUploadError(answer(500, ''))).toBe('The server answered 500.')
  expect(describeUploadError(new Error('network'))).toContain('connection')
})
