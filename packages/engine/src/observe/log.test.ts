import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { makeDirectory } from '../testing.ts'
import { formatLine, ServerLog } from './log.ts'
import type { LogOptions } from './log.ts'

function open(change: Partial<LogOptions> = {}) {
  const printed: string[] = []
  const log = new ServerLog({
    log_info: true,
    log_warning: true,
    log_error: true,
    log_verbose_level: 0,
    log_format: 'default',
    file: '',
    escape: true,
    pid: 77,
    print: (line, level) => void printed.push(`${level}|${line}`),
    ...change,
  })
  return { log, printed }
}

it('prints both line formats, in UTC', () => {
  const line = { at: Date.UTC(2026, 4, 20, 20, 3, 25, 829), level: 'info', text: 'a "b"\nc' } as const
  expect(formatLine(line, { escape: true, pid: 7, log_format: 'default' })).toBe(
    'I0520 20:03:25.829000 7 conch.ts:1] "a \\"b\\"\\nc"',
  )
  expect(formatLine({ ...line, level: 'error' }, { escape: true, pid: 7, log_format: 'ISO8601' })).toBe(
    '2026-05-20T20:03:25Z E 7 conch.ts:1] "a \\"b\\"\\nc"',
  )
  expect(formatLine({ ...line, text: '\n+--+' }, { escape: true, pid: 7, log_format: 'default' })).toMatch(
    /] \n\+--\+$/,
  )
})

it('switches levels while it runs', () => {
  const { log, printed } = open()
  log.write('verbose', 'hidden')
  log.settings.log_info = false
  log.settings.log_verbose_level = 1
  log.write('info', 'hidden')
  log.write('verbose', 'shown')
  log.write('warning', 'shown')
  expect(printed.map((line) => line.split('|')[0])).toEqual(['verbose', 'warning'])
})

it('keeps the last lines and tells listeners', () => {
  const { log } = open()
  const heard: string[] = []
  const stop = log.subscribe(({ text }) => void heard.push(text))
  for (let i = 0; i < 1_200; i++) log.write('info', String(i))
  stop()
  log.write('info', 'unheard')
  expect(heard).toHaveLength(1_200)
  expect(log.tail(5_000)).toHaveLength(1_000)
  expect(log.tail(2).map(({ text }) => text)).toEqual(['1199', 'unheard'])
})

it('tells whose line it is', () => {
  const { log } = open()
  log.write('info', 'loading weights', { model: 'm', version: '2' })
  log.write('info', 'of the server')
  expect(log.tail(2).map(({ about }) => about)).toEqual([{ model: 'm', version: '2' }, undefined])
})

it('writes to a file, and falls back to the console when it cannot', async () => {
  const { directory, remove } = await makeDirectory({})
  const file = join(directory, 'out.log')
  const { log, printed } = open({ file })
  log.write('info', 'one')
  expect(await readFile(file, 'utf8')).toMatch(/] "one"\n$/)
  expect(printed).toEqual([])
  log.close()
  const broken = open({ file: directory })
  expect(broken.log.file).toBe('')
  expect(broken.printed[0]).toContain('failed to open log file')
  await remove()
})

it('counts what a full disk swallows', () => {
  const { log } = open({ file: '/dev/full' })
  log.write('info', 'lost')
  expect(log.dropped).toBe(1)
})
