import { expect, it } from 'vitest'
import { LineLog } from './line-log.ts'

function record(now = () => 0) {
  const lines: string[] = []
  return { lines, log: new LineLog((line) => void lines.push(line), now) }
}

it('cuts lines wherever they are torn, and ends with what is left', () => {
  const { lines, log } = record()
  for (const part of ['on', 'e\ntw', 'o\n\nthr', 'ee']) log.push(Buffer.from(part))
  expect(lines).toEqual(['one', 'two'])
  log.end()
  expect(lines).toEqual(['one', 'two', 'three'])
  expect(log.last).toEqual(lines)
})

it('shows binary data harmlessly', () => {
  const { lines, log } = record()
  log.push(Buffer.from([0x1b, 0x5b, 0x32, 0x4a, 0x00, 0xff, 0xc3, 0x0a]))
  log.push(Buffer.from('tab\tis fine\r\n'))
  expect(lines).toEqual(['\\x1b[2J\\x00��', 'tab\tis fine'])
})

it('keeps characters whole that are torn', () => {
  const { lines, log } = record()
  const [first, second] = Buffer.from('ä')
  log.push(Buffer.from([first ?? 0]))
  log.push(Buffer.from([second ?? 0, 0x0a]))
  expect(lines).toEqual(['ä'])
})

it('bounds the length of a line, also of one that never ends', () => {
  const { lines, log } = record()
  log.push(Buffer.alloc(10_000, 'x'))
  expect(lines.map(({ length }) => length)).toEqual([4_096, 4_096])
  log.push(Buffer.from(`\n${'y'.repeat(5_000)}\n`))
  expect(lines.at(-1)).toMatch(/^y{4096}…$/)
})

it('bounds the lines of a second, and tells how many were left out', () => {
  let now = 0
  const { lines, log } = record(() => now)
  for (let i = 0; i < 700; i++) log.push(Buffer.from(`${i}\n`))
  expect(lines).toHaveLength(500)
  now = 1_000
  log.push(Buffer.from('next\n'))
  expect(lines.slice(500)).toEqual(['200 lines were left out: more than 500 in a second', 'next'])
  expect(log.last).toHaveLength(40)
})
