import fc from 'fast-check'
import { expect, it } from 'vitest'
import { CustomMetrics } from './custom-metrics.ts'
import { printFamilies } from './exposition.ts'

const show = (metrics: CustomMetrics) => printFamilies(metrics.families())

it('shares a family of one name and kind, and a series of the same labels, until the last holder lets go', () => {
  const metrics = new CustomMetrics()
  const [a, b] = [metrics.createFamily('counter', 'asked', 'first'), metrics.createFamily('counter', 'asked', 'second')]
  const one = a.createSeries({ x: '1', y: '2' }, undefined)
  const same = b.createSeries({ y: '2', x: '1' }, undefined)
  one.increment(2)
  same.increment(0.5)
  expect(one.value()).toBe(2.5)
  expect(show(metrics)).toBe('# HELP asked first\n# TYPE asked counter\nasked{x="1",y="2"} 2.5\n')
  a.close()
  expect(() => one.increment(1)).toThrow('Could not increment metric value. Metric has been invalidated.')
  expect(same.value()).toBe(2.5)
  same.close()
  same.close()
  expect(show(metrics)).toBe('')
  b.close()
  expect(() => b.createSeries({}, undefined)).toThrow('has been deleted')
  expect(metrics.createFamily('gauge', 'asked', 'other').createSeries({}, undefined).value()).toBe(0)
})

it('prints histograms with the buckets of their maker', () => {
  const metrics = new CustomMetrics()
  const series = metrics.createFamily('histogram', 'took', 'time').createSeries({}, [0.1, 1, 2.5, Infinity])
  for (const value of [0.1, 0.2, 2.5, 7]) series.observe(value)
  expect(show(metrics).split('\n').slice(2, -1)).toEqual([
    'took_count 4',
    'took_sum 9.8',
    'took_bucket{le="0.1"} 1',
    'took_bucket{le="1"} 2',
    'took_bucket{le="2.5"} 3',
    'took_bucket{le="+Inf"} 4',
  ])
})

it('refuses what a kind does not do, in the words of the original', () => {
  const metrics = new CustomMetrics()
  const make = (kind: 'counter' | 'gauge' | 'histogram') =>
    metrics.createFamily(kind, kind, '').createSeries({}, kind === 'histogram' ? [1] : undefined)
  const [counter, gauge, histogram] = [make('counter'), make('gauge'), make('histogram')]
  const only = 'TRITONSERVER_METRIC_KIND_COUNTER can only be incremented monotonically by non-negative values.'
  for (const bad of [-1, Number.NaN]) expect(() => counter.increment(bad)).toThrow(only)
  expect(() => counter.set(1)).toThrow('TRITONSERVER_METRIC_KIND_COUNTER does not support Set')
  expect(() => counter.observe(1)).toThrow('TRITONSERVER_METRIC_KIND_COUNTER does not support Observe')
  expect(() => gauge.observe(1)).toThrow('TRITONSERVER_METRIC_KIND_GAUGE does not support Observe')
  expect(() => histogram.value()).toThrow('TRITONSERVER_METRIC_KIND_HISTOGRAM does not support Value')
  expect(() => histogram.set(1)).toThrow('TRITONSERVER_METRIC_KIND_HISTOGRAM does not support Set')
  expect(() => histogram.increment(1)).toThrow('TRITONSERVER_METRIC_KIND_HISTOGRAM does not support Increment')
  gauge.increment(-3)
  expect(gauge.value()).toBe(-3)
  gauge.set(8)
  expect(gauge.value()).toBe(8)
})

it('refuses names, labels and buckets that Prometheus could not read', () => {
  const metrics = new CustomMetrics()
  for (const name of ['', '1a', 'a b', 'a-b', 'ä']) {
    expect(() => metrics.createFamily('gauge', name, '')).toThrow('Invalid metric name')
  }
  const gauge = metrics.createFamily('gauge', 'g', '')
  expect(() => metrics.createFamily('counter', 'g', '')).toThrow('Family name already exists with different type')
  for (const label of ['', '1a', '__name__', 'a b']) {
    expect(() => gauge.createSeries({ [label]: 'x' }, undefined)).toThrow('Invalid label name')
  }
  expect(() => gauge.createSeries({}, [1])).toThrow('Unexpected args found in gauge Metric constructor.')
  const histogram = metrics.createFamily('histogram', 'h', '')
  expect(() => histogram.createSeries({}, undefined)).toThrow('Bucket boundaries not found in Metric args.')
  expect(() => histogram.createSeries({ le: '1' }, [1])).toThrow('Invalid label name')
  for (const buckets of [[2, 1], [1, 1], [Number.NaN]]) {
    expect(() => histogram.createSeries({}, buckets)).toThrow('Bucket Boundaries must be strictly sorted')
  }
})

it('never shows more than is held, whatever is made and closed', () => {
  const steps = fc.array(fc.tuple(fc.nat(2), fc.nat(2), fc.boolean()), { maxLength: 60 })
  fc.assert(
    fc.property(steps, (list) => {
      const metrics = new CustomMetrics()
      const held: { name: string; label: string; close: () => void }[] = []
      for (const [name, label, closes] of list) {
        if (closes) held.shift()?.close()
        else {
          const family = metrics.createFamily('counter', `f${name}`, '')
          family.createSeries({ l: String(label) }, undefined)
          held.push({ name: `f${name}`, label: String(label), close: () => family.close() })
        }
        const expected = new Set(held.map((one) => `${one.name}{l="${one.label}"} 0`))
        const shown = show(metrics)
          .split('\n')
          .filter((line) => line !== '' && !line.startsWith('#'))
        expect(shown.toSorted()).toEqual([...expected].toSorted())
      }
    }),
  )
})
