import { expect, it } from 'vitest'
import { parseServeOptions } from '../options.ts'
import { TraceFile } from './trace-file.ts'
import { TraceSettings } from './trace-settings.ts'

const read = (...given: string[]) =>
  parseServeOptions(
    given.map((text) => `--trace-config=${text}`),
    {},
  ).trace

/** A file that is never written: the texts that it was given. */
function open(...given: string[]) {
  const options = read('triton,file=/t', ...given)
  const written: string[] = []
  const file = Object.assign(new TraceFile('/t', () => undefined), {
    append: (text: string) => void written.push(text),
    writeIndexed: (text: string) => void written.push(`indexed ${text}`),
  })
  return { settings: new TraceSettings(options, file), written }
}
const sampled = (settings: TraceSettings, model: string, count: number) =>
  Array.from({ length: count }, () => settings.find(model).sample(false))
    .map(Number)
    .join('')

it.each([
  [['level=TIMESTAMPS'], 'trace file name is not given'],
  [['level=TIMESTAMPS', 'triton,file=/t', 'rate=0'], 'sample rate must be non-zero'],
])('%j does not fit together: %s', (given, reason) => {
  expect(() => new TraceSettings(read(...given), undefined)).toThrow(
    `Attempting to set invalid trace setting :${reason}`,
  )
})

it.each([
  [
    ['level=min', 'level=Tensors'],
    ['TIMESTAMPS', 'TENSORS'],
  ],
  [['level=TENSORS', 'level=off'], []],
  [['level=FALSE', 'level=true'], []],
  [[], []],
])('reads levels %j', (given, level) => {
  expect(read(...given).level).toEqual(level)
})

it('reads the old flags where the new one says nothing', () => {
  const given = ['--trace-file=/old', '--trace-rate=5', '--trace-level=TIMESTAMPS', '--trace-config=rate=7']
  expect(parseServeOptions(given, {}).trace).toMatchObject({ file: '/old', rate: 7, level: ['TIMESTAMPS'], count: -1 })
})

it('traces every rate-th request, as many as it may, and begins anew with every change', () => {
  const { settings } = open('level=TIMESTAMPS', 'rate=3', 'count=2')
  expect(sampled(settings, 'm', 10)).toBe('0010010000')
  expect(settings.show('m')).toMatchObject({ trace_count: '0', trace_rate: '3' })
  settings.change('', { count: 1 })
  expect(sampled(settings, 'm', 4)).toBe('0010')
})

it('lets a model follow the server in what it has not said itself, also later', () => {
  const { settings } = open('level=TIMESTAMPS', 'rate=1')
  settings.change('m', { rate: 2 })
  settings.change('', { level: [], logFrequency: 9 })
  expect(settings.show('m')).toMatchObject({ trace_level: ['OFF'], trace_rate: '2', log_frequency: '9' })
  settings.change('m', { level: ['TIMESTAMPS'] })
  expect([settings.on, settings.find('m').on, settings.find('other').on]).toEqual([true, true, false])
  settings.change('m', { rate: undefined, level: undefined })
  expect([settings.on, settings.show('m')['trace_rate']]).toEqual([false, '1'])
  settings.change('', { level: undefined })
  expect(settings.show('m')['trace_level']).toEqual(['TIMESTAMPS'])
})

it('changes nothing when the result would be invalid', () => {
  const { settings } = open('level=TIMESTAMPS')
  expect(() => settings.change('', { rate: 0 })).toThrow('sample rate must be non-zero')
  expect(() => settings.change('m', { rate: 0 })).toThrow('sample rate must be non-zero')
  expect([settings.show('')['trace_rate'], settings.show('m')['trace_rate']]).toEqual(['1000', '1000'])
  settings.change('', { level: [], rate: 0 })
  expect(settings.show('')['trace_rate']).toBe('0')
})

it('writes N traces to a file with an index, the last of a count too, and the rest when it is flushed', () => {
  const { settings, written } = open('level=TIMESTAMPS', 'rate=1', 'count=3', 'triton,log-frequency=2')
  const setting = settings.find('m')
  expect(sampled(settings, 'm', 5)).toBe('11100')
  for (const text of ['a', 'b', 'c']) setting.collect(text)
  expect(written).toEqual(['indexed a,b', 'indexed c'])
})

it('keeps traces until the setting is replaced; what comes later is added', () => {
  const { settings, written } = open('level=TIMESTAMPS', 'rate=1')
  const before = settings.find('m')
  before.collect('a')
  before.collect('b')
  expect(written).toEqual([])
  settings.change('', { rate: 2 })
  before.collect('late')
  expect(written).toEqual(['a,b', 'late'])
})

it('does not keep more than a megabyte', () => {
  const { settings, written } = open('level=TIMESTAMPS', 'rate=1')
  for (let i = 0; i < 3; i++) settings.find('').collect('x'.repeat(400_000))
  expect(written).toHaveLength(1)
})

it('shows the settings of the collector in its mode, and samples what a client traces whatever the rate', () => {
  const settings = new TraceSettings(read('mode=opentelemetry', 'level=TIMESTAMPS', 'rate=0'), undefined)
  expect(Object.keys(settings.show('')).toSorted()).toEqual(
    [
      'bsp_max_export_batch_size',
      'bsp_max_queue_size',
      'bsp_schedule_delay',
      'resource',
      'trace_count',
      'trace_level',
      'trace_mode',
      'trace_rate',
      'url',
    ].toSorted(),
  )
  expect([settings.find('m').sample(false), settings.find('m').sample(true)]).toEqual([false, true])
})
