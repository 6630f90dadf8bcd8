import fc from 'fast-check'
import { expect, it } from 'vitest'
import { BodyCollector, release } from './body.ts'
import { LIMITS } from './limits.ts'

const ROOMY = { hold: () => undefined }

function collect(pieces: readonly Buffer[], announced: number, limit: number = LIMITS.bodyBytes) {
  const results: { error: string | undefined; body: Buffer }[] = []
  const expected = { announced, limit, head: 0, holder: ROOMY }
  const collector = new BodyCollector(expected, (error, body) => results.push({ error: error?.message, body }))
  for (const piece of pieces) collector.data(piece)
  collector.end()
  expect(results).toHaveLength(1)
  return results[0] ?? { error: 'none', body: Buffer.alloc(0) }
}

it('hands a body that came in one piece on without copying it', () => {
  const piece = Buffer.from('hello')
  expect(collect([piece], 5).body).toBe(piece)
})

it('gathers any pieces, announced or not', () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ minLength: 1, maxLength: 50 }), { maxLength: 20 }),
      fc.boolean(),
      (parts, chunked) => {
        const whole = Buffer.concat(parts)
        const { error, body } = collect(
          parts.map((part) => Buffer.from(part)),
          chunked ? -1 : whole.length,
        )
        expect(error).toBeUndefined()
        expect(body.equals(whole)).toBe(true)
      },
    ),
  )
})

it('stops at the limit and reports once', () => {
  const piece = Buffer.alloc(60)
  expect(collect([piece, piece, piece], -1, 100).error).toContain('100 bytes')
})

it('stops at 65536 small chunks, and does not count large ones', () => {
  const small = Buffer.alloc(1)
  expect(collect(new Array(LIMITS.chunks).fill(small), -1).error).toBeUndefined()
  expect(collect(new Array(LIMITS.chunks + 1).fill(small), -1).error).toContain('65536 non-empty chunks')
  expect(collect(new Array(LIMITS.chunks + 1).fill(small), LIMITS.chunks + 1).error).toBeUndefined()
})

it('puts what follows the head where every element can be read in place', () => {
  for (const head of [0, 1, 15, 16, 250]) {
    let body: Buffer = Buffer.alloc(0)
    const collector = new BodyCollector(
      { announced: 600, limit: 1000, head, holder: ROOMY },
      (_, whole) => (body = whole),
    )
    for (let i = 0; i < 6; i += 1) collector.data(Buffer.alloc(100, i))
    collector.end()
    expect((body.byteOffset + head) % 16).toBe(0)
    expect([...body.subarray(95, 105)]).toEqual([0, 0, 0, 0, 0, 1, 1, 1, 1, 1])
  }
})

it('gives the memory of pieces back, and takes no more than was announced', () => {
  const pieces = Array.from({ length: 5 }, () => Buffer.allocUnsafeSlow(4 * 1024 * 1024).fill(7))
  const { body } = collect(pieces, 20 * 1024 * 1024)
  expect(body.buffer.byteLength).toBe(20 * 1024 * 1024)
  expect(pieces.map(({ length }) => length)).toEqual([0, 0, 0, 0, 0])
  expect(body.every((byte) => byte === 7)).toBe(true)
  release(body)
  release(body)
  expect(body.length).toBe(0)
})
