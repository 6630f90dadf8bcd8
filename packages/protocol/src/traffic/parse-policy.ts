import { ConchError } from '../status.ts'
import { cut, describe, FieldReader } from './fields.ts'
import type { VersionReader } from './fields.ts'
import { readRules } from './parse-rules.ts'
import type { NamedVersion, StickyKey, TrafficArm, TrafficPolicy, TrafficProblem } from './policy.ts'
import { MAX_TRAFFIC_BYTES, TRAFFIC_FILE } from './policy.ts'

const MEMBERS = ['labels', 'split', 'sticky', 'shadow', 'rollback', 'rolled_back']
/** Never a number: what a client writes as a version must be one or the other. */
const LABEL = /^[A-Za-z_][A-Za-z0-9_.-]{0,62}$/
const VERSION = /^(0|[1-9][0-9]{0,18})$/
const MAX_LABELS = 100
const MAX_ARMS = 20
const HEADER = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/

export interface CheckedPolicy {
  readonly policy: TrafficPolicy
  /** Empty = the policy may be used. */
  readonly problems: readonly TrafficProblem[]
}

/** Throws INVALID_ARG with every problem, one a line. */
export function parseTrafficPolicy(value: unknown): TrafficPolicy {
  const { policy, problems } = readTrafficPolicy(value)
  if (problems.length === 0) return policy
  const lines = problems.map(({ path, message, fix }) => {
    return `${path === '' ? TRAFFIC_FILE : `${TRAFFIC_FILE}: ${path}`} ${message}; ${fix}`
  })
  throw new ConchError('INVALID_ARG', lines.join('\n'), { cause: { problems } })
}

/** Throws INVALID_ARG for what is no JSON, with its line. */
export function parseTrafficText(text: string): TrafficPolicy {
  if (text.length > MAX_TRAFFIC_BYTES) {
    throw new ConchError('INVALID_ARG', `${TRAFFIC_FILE} has more than ${MAX_TRAFFIC_BYTES} bytes; shorten it`)
  }
  let value: unknown
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new ConchError('INVALID_ARG', `${TRAFFIC_FILE} is no JSON: ${why}; correct it or remove the file`, { cause })
  }
  return parseTrafficPolicy(value)
}

/** Every problem at once. With problems the policy is what could be read, for an editor to go on with. */
export function readTrafficPolicy(value: unknown): CheckedPolicy {
  const problems: TrafficProblem[] = []
  const root = new FieldReader(value, '', problems)
  root.refuseOthers(MEMBERS)
  const labels = readLabels(root)
  const name = (reader: FieldReader, field: string, written: unknown) => {
    return readVersion(reader, { field, written, labels })
  }
  const split = readSplit(root, name)
  const policy = { labels, split, sticky: readSticky(root), ...readRules(root, split, name) }
  return { policy, problems }
}

function readLabels(root: FieldReader): Readonly<Record<string, string>> {
  const reader = root.open('labels')
  const labels: Record<string, string> = Object.create(null) as Record<string, string>
  if (reader === undefined) return labels
  const entries = reader.entries()
  if (entries.length > MAX_LABELS) reader.note('', `has ${entries.length} labels`, `${MAX_LABELS} at most`)
  for (const [label, written] of entries.slice(0, MAX_LABELS)) {
    const version = String(written)
    const isNumber = typeof written === 'string' || Number.isSafeInteger(written)
    if (!LABEL.test(label)) {
      reader.note(cut(label), 'is no label', 'begin with a letter, then letters, digits, _ . -; 63 characters at most')
    } else if (!isNumber || !VERSION.test(version)) {
      reader.note(label, `is ${describe(written)}`, 'write the number of a version')
    } else labels[label] = version
  }
  return labels
}

interface Written {
  readonly field: string
  readonly written: unknown
  readonly labels: Readonly<Record<string, string>>
}

function readVersion(reader: FieldReader, { field, written, labels }: Written): NamedVersion | undefined {
  const name = String(written)
  if (typeof written === 'string' && Object.hasOwn(labels, name)) return { name, version: labels[name] ?? '' }
  const isNumber = typeof written === 'string' || Number.isSafeInteger(written)
  if (isNumber && VERSION.test(name)) return { name, version: name }
  const known = Object.keys(labels)
  const use = known.length === 0 ? '' : `, or a label: ${known.join(', ')}`
  reader.note(field, `names no version (${describe(written)})`, `write the number of a version${use}`)
  return undefined
}

function readSplit(root: FieldReader, name: VersionReader): readonly TrafficArm[] {
  const reader = root.open('split')
  if (reader === undefined) return []
  const entries = reader.entries()
  if (entries.length === 0 || entries.length > MAX_ARMS) {
    reader.note('', `has ${entries.length} versions`, `name 1 to ${MAX_ARMS}, or remove it`)
  }
  const arms: TrafficArm[] = []
  for (const [written, share] of entries.slice(0, MAX_ARMS)) {
    const version = name(reader, cut(written), written)
    const weight = readWeight(reader, cut(written), share)
    const twice = arms.find((arm) => arm.version === version?.version)
    if (twice !== undefined) {
      reader.note(cut(written), `is version ${twice.version}, as '${twice.name}' is`, 'name each version once')
    } else if (version !== undefined && weight !== undefined) arms.push({ ...version, weight })
  }
  checkSum(reader, entries.length === arms.length ? arms : [])
  return arms.toSorted((a, b) => (BigInt(a.version) < BigInt(b.version) ? -1 : 1))
}

function readWeight(reader: FieldReader, field: string, share: unknown): number | undefined {
  const right = typeof share === 'number' && share >= 0 && share <= 100 && isHundredths(share)
  if (right) return share
  reader.note(field, `is ${describe(share)}`, 'write percent: a number from 0 to 100 with two decimals at most')
  return undefined
}

function isHundredths(share: number): boolean {
  return Math.abs(share * 100 - Math.round(share * 100)) < 1e-6
}

function checkSum(reader: FieldReader, arms: readonly TrafficArm[]): void {
  if (arms.length === 0) return
  const sum = arms.reduce((total, { weight }) => total + Math.round(weight * 100), 0)
  if (sum !== 10_000) reader.note('', `sums up to ${sum / 100}`, 'the weights must sum up to 100')
}

function readSticky(root: FieldReader): StickyKey | undefined {
  const reader = root.open('sticky')
  if (reader === undefined) return undefined
  reader.refuseOthers(['header', 'parameter'])
  if (reader.has('header') === reader.has('parameter')) {
    reader.note('', 'must name one thing', 'write {"header": "x-user"} or {"parameter": "user"}')
    return undefined
  }
  const from = reader.has('header') ? 'header' : 'parameter'
  const name = reader.get(from)
  if (typeof name === 'string' && (from === 'header' ? HEADER.test(name) : name !== '' && name.length <= 128)) {
    return { from, name: from === 'header' ? name.toLowerCase() : name }
  }
  reader.note(from, `is ${describe(name)}`, `write the name of a ${from}`)
  return undefined
}
