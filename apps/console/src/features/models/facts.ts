import type { EffectiveValue } from '@conch/server/schemas'

/** The few settings that tell what a model is, as the effective config has them. */
export function readFacts(effective: readonly EffectiveValue[]): (readonly [string, string])[] {
  const values = new Map(effective.map(({ path, value }) => [path, unquote(value)]))
  const get = (path: string) => values.get(path) ?? ''
  if (values.size === 0) return []
  const rows = [
    ['Backend', get('backend')],
    ['Platform', get('platform')],
    ['Largest batch', describeBatch(get('max_batch_size'))],
    ['Batching', describeBatching([...values.keys()])],
    ['Instances', describeInstances(values)],
    ['Version policy', describePolicy([...values])],
  ] as const
  return rows.filter(([, value]) => value !== '')
}

/** Values are shown as the config's text has them. */
function unquote(value: string): string {
  return /^".*"$/.test(value) ? value.slice(1, -1) : value
}

function describeBatch(size: string): string {
  return size === '0' ? 'no batch dimension' : size
}

function describeBatching(paths: readonly string[]): string {
  if (paths.some((path) => path.startsWith('ensemble_scheduling'))) return 'ensemble'
  if (paths.some((path) => path.startsWith('sequence_batching'))) return 'sequence'
  return paths.some((path) => path.startsWith('dynamic_batching')) ? 'dynamic' : 'none'
}

function describeInstances(values: ReadonlyMap<string, string>): string {
  const groups: string[] = []
  for (let index = 0; values.has(`instance_group[${index}].kind`); index += 1) {
    const kind = (values.get(`instance_group[${index}].kind`) ?? '').replace('KIND_', '')
    groups.push(`${values.get(`instance_group[${index}].count`) ?? '1'} × ${kind}`)
  }
  return groups.join(', ')
}

function describePolicy(values: readonly (readonly [string, string])[]): string {
  const found = values.filter(([path]) => path.startsWith('version_policy.'))
  const latest = found.find(([path]) => path.includes('latest'))
  if (latest !== undefined)
    return latest[1] === '1' || !/^\d+$/.test(latest[1]) ? 'the latest' : `the latest ${latest[1]}`
  if (found.some(([path]) => path.includes('all'))) return 'all'
  const versions = found.filter(([path]) => path.includes('specific')).map(([, value]) => value)
  return versions.length === 0 ? '' : `only ${versions.join(', ')}`
}
