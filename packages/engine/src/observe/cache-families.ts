import type { CacheNumbers } from '../cache/contract.ts'
import type { Family } from './exposition.ts'
import type { Reading } from './families.ts'
import type { SeriesNumber } from './series.ts'

const PER_MODEL: readonly (readonly [string, string, SeriesNumber])[] = [
  ['nv_cache_num_hits_per_model', 'Number of cache hits per model', 'hits'],
  ['nv_cache_hit_duration_per_model', 'Total cache hit duration per model, in microseconds', 'hitNs'],
  ['nv_cache_num_misses_per_model', 'Number of cache misses per model', 'misses'],
  [
    'nv_cache_miss_duration_per_model',
    'Total cache miss (insert+lookup) duration per model, in microseconds',
    'missNs',
  ],
]

/** The counters of models that the cache serves (metrics §3). */
export function cacheFamilies(readings: readonly Reading[]): readonly Family[] {
  const cached = readings.filter(({ series }) => series.cached)
  return PER_MODEL.map(([name, help, key]) => ({
    name,
    help,
    kind: 'counter',
    samples: cached.map(({ series, totals }) => {
      const number = totals.numbers[key]
      return { suffix: '', labels: series.labels, value: key.endsWith('Ns') ? Math.floor(number / 1_000) : number }
    }),
  }))
}

/** What a cache in memory says of itself (metrics §6); the original refreshes these once a second. */
export function storeFamilies(numbers: CacheNumbers | undefined): readonly Family[] {
  if (numbers === undefined) return []
  const rows: readonly (readonly [string, string, number])[] = [
    ['nv_cache_util', 'Cache utilization [0.0 - 1.0]', numbers.utilisation],
    ['nv_cache_num_entries', 'Number of responses stored in response cache', numbers.entries],
    ['nv_cache_num_hits', 'Number of cache hits in response cache', numbers.hits],
    ['nv_cache_num_misses', 'Number of cache misses in response cache', numbers.misses],
    ['nv_cache_num_lookups', 'Number of cache lookups in response cache', numbers.lookups],
    ['nv_cache_num_evictions', 'Number of cache evictions in response cache', numbers.evictions],
    ['nv_cache_lookup_duration', 'Total cache lookup duration (hit and miss), in microseconds', numbers.lookupUs],
    ['nv_cache_insertion_duration', 'Total cache insertion duration, in microseconds', numbers.insertUs],
  ]
  return rows.map(([name, help, value]) => ({
    name,
    help,
    kind: 'gauge',
    samples: [{ suffix: '', labels: {}, value }],
  }))
}
