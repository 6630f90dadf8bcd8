export type MetricKind = 'counter' | 'gauge' | 'histogram' | 'summary'

/** One series; `suffix` is `_count`, `_sum`, `_bucket` or ''. */
export interface Sample {
  readonly suffix: string
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
}

export interface Family {
  readonly name: string
  readonly help: string
  readonly kind: MetricKind
  readonly samples: readonly Sample[]
}

const KINDS: readonly MetricKind[] = ['counter', 'gauge', 'histogram', 'summary']

/** Prometheus text 0.0.4 as the original prints it: by kind, then in the order given; families without series are absent. */
export function printFamilies(families: readonly Family[]): string {
  const text: string[] = []
  for (const kind of KINDS) {
    for (const family of families) {
      if (family.kind === kind && family.samples.length > 0) text.push(printFamily(family))
    }
  }
  return text.join('')
}

function printFamily({ name, help, kind, samples }: Family): string {
  const lines = [`# HELP ${name} ${help.replace(/\\/g, '\\\\').replace(/\n/g, '\\n')}`, `# TYPE ${name} ${kind}`]
  for (const { suffix, labels, value } of samples)
    lines.push(`${name}${suffix}${printLabels(labels)} ${printNumber(value)}`)
  return `${lines.join('\n')}\n`
}

/** Sorted bytewise; `le` and `quantile` come last. */
function printLabels(labels: Sample['labels']): string {
  const last = (key: string) => (key === 'le' || key === 'quantile' ? 1 : 0)
  const keys = Object.keys(labels).toSorted((a, b) => last(a) - last(b) || (a < b ? -1 : 1))
  if (keys.length === 0) return ''
  return `{${keys.map((key) => `${key}="${escapeLabel(String(labels[key]))}"`).join(',')}}`
}

function escapeLabel(value: string): string {
  return value.replace(/\\/g, '\\\\').replace(/\n/g, '\\n').replace(/"/g, '\\"')
}

/** The original prints 16 significant digits; NaN is `Nan`. */
export function printNumber(value: number): string {
  if (Number.isNaN(value)) return 'Nan'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  return Number.isSafeInteger(value) ? String(value) : String(Number(value.toPrecision(16)))
}
