import type { Field } from '../descriptor.ts'

/** One value as written. Ranges are UTF-16 offsets into the text, `line` is 1-based. */
export interface ScalarNode {
  readonly kind: 'scalar'
  readonly start: number
  readonly end: number
  readonly line: number
  /** What it means; undefined where it could not be read. */
  readonly value: unknown
}
export interface MessageNode {
  readonly kind: 'message'
  /** Full name of the message type. */
  readonly type: string
  /** Of the opening bracket; for the whole text 0. */
  readonly start: number
  /** Behind the closing bracket. */
  end: number
  readonly line: number
  readonly fields: FieldNode[]
}
export type ValueNode = ScalarNode | MessageNode

/** One `name: value`, `name { … }` or `name [ … ]`; a repeated field may have several of them. */
export interface FieldNode {
  readonly name: string
  /** Undefined for a name that the message does not have. */
  readonly field: Field | undefined
  readonly start: number
  readonly nameEnd: number
  /** Behind the value, its separator not included. */
  end: number
  /** Behind the `,` or `;` that follows, or `end`. */
  separatorEnd: number
  readonly line: number
  /** Offsets of `[` and of the place behind `]`, when it was written as a list. */
  list: { readonly open: number; close: number } | undefined
  readonly values: ValueNode[]
}

/**
 * The text and where everything in it stands. Comments and blanks are what lies between the nodes: an edit is a
 * splice of the text, so everything outside the changed node stays byte for byte.
 */
export interface PbtxtTree {
  readonly text: string
  readonly root: MessageNode
  readonly comments: readonly { readonly start: number; readonly end: number }[]
}

/** Where a value came from. */
export interface Origin {
  readonly line: number
  readonly start: number
  readonly end: number
}

export interface PathStep {
  readonly name: string
  /** Position in a list. */
  readonly index?: number | undefined
  /** Key of a map. */
  readonly key?: string | undefined
}

/** `input[0].dims` and `parameters["a"].string_value` → steps; undefined for anything else. */
export function parsePath(path: string): PathStep[] | undefined {
  const steps: PathStep[] = []
  const pattern = /(\w+)(?:\[(?:(\d+)|("(?:[^"\\]|\\.)*"))\])?(\.|$)/y
  let at = 0
  while (at < path.length) {
    pattern.lastIndex = at
    const match = pattern.exec(path)
    if (match === null) return undefined
    const [whole, name = '', index, key] = match
    steps.push({
      name,
      index: index === undefined ? undefined : Number(index),
      key: key === undefined ? undefined : (JSON.parse(key) as string),
    })
    at += whole.length
  }
  return steps.length > 0 && !path.endsWith('.') ? steps : undefined
}

/** The step of a path that names an entry of a map. */
export function keyStep(name: string, key: string): string {
  return `${name}[${JSON.stringify(key)}]`
}

/** A node found by path: the value, the field it belongs to and its place in the list of values. */
export interface Located {
  readonly parent: MessageNode
  readonly field: FieldNode
  readonly value: ValueNode | undefined
}

/** Finds what a path names; for a path that is not written, undefined. */
export function findNode(tree: PbtxtTree, path: string): Located | undefined {
  const steps = parsePath(path)
  if (steps === undefined) return undefined
  let parent: MessageNode = tree.root
  let found: Located | undefined
  for (const [position, step] of steps.entries()) {
    found = findStep(parent, step)
    if (found === undefined || position === steps.length - 1) return found
    if (found.value?.kind !== 'message') return undefined
    parent = found.value
  }
  return found
}

function findStep(parent: MessageNode, step: PathStep): Located | undefined {
  let seen = 0
  let last: Located | undefined
  for (const field of parent.fields) {
    if (field.name !== step.name) continue
    if (step.key !== undefined) {
      last = findEntry(field, step.key) ?? last
      continue
    }
    const index = (step.index ?? 0) - seen
    if (step.index === undefined || index < field.values.length) return { parent, field, value: field.values[index] }
    seen += field.values.length
  }
  return last
}

function findEntry(field: FieldNode, key: string): Located | undefined {
  let found: Located | undefined
  for (const entry of field.values) {
    if (entry.kind !== 'message' || entryKey(entry) !== key) continue
    const written = entry.fields.find((one) => one.name === 'value')
    found = { parent: entry, field: written ?? field, value: written?.values[0] ?? entry }
  }
  return found
}

/** The key of a map entry as text; a missing one has its default. */
export function entryKey(entry: MessageNode): string {
  const field = entry.fields.find((one) => one.name === 'key')
  const value = field?.values[0]
  if (value?.kind === 'scalar' && value.value !== undefined) return String(value.value as string | bigint)
  return entry.type.endsWith('.PriorityQueuePolicyEntry') ? '0' : ''
}

/** The place of a path, or of its nearest written parent. */
export function locate(tree: PbtxtTree, path: string): Origin | undefined {
  for (let rest = path; rest !== ''; rest = parentPath(rest)) {
    const found = findNode(tree, rest)
    if (found === undefined) continue
    const { value, field } = found
    const isWhole = value === undefined || (rest.endsWith(field.name) && field.values.length > 1)
    const node = isWhole ? field : value
    return { line: node.line, start: node.start, end: node.end }
  }
  return undefined
}

function parentPath(path: string): string {
  const cut = path.endsWith(']') ? path.lastIndexOf('[') : path.lastIndexOf('.')
  return cut < 0 ? '' : path.slice(0, cut)
}

/** For every leaf that the text gives: its path and where it stands. What is missing here has a default. */
export function originsOf(tree: PbtxtTree): Map<string, Origin> {
  const origins = new Map<string, Origin>()
  collectMessage(tree.root, '', origins)
  return origins
}

function collectMessage(message: MessageNode, prefix: string, origins: Map<string, Origin>): void {
  const counts = new Map<string, number>()
  for (const node of message.fields) {
    const label = node.field?.label
    for (const value of node.values) {
      const index = counts.get(node.name) ?? 0
      counts.set(node.name, index + 1)
      if (label === 'map' && value.kind === 'message') {
        collectEntry(value, prefix + keyStep(node.name, entryKey(value)), origins)
      } else
        collectValue(value, label === 'many' ? `${prefix}${node.name}[${String(index)}]` : prefix + node.name, origins)
    }
    if (node.values.length === 0) origins.set(prefix + node.name, node)
  }
}

function collectEntry(entry: MessageNode, path: string, origins: Map<string, Origin>): void {
  const written = entry.fields.find((field) => field.name === 'value')?.values[0]
  collectValue(written ?? entry, path, origins)
}

function collectValue(value: ValueNode, path: string, origins: Map<string, Origin>): void {
  const isLeaf = value.kind === 'scalar' || value.fields.length === 0
  if (isLeaf || value.type.endsWith('Entry'))
    origins.set(path, { line: value.line, start: value.start, end: value.end })
  else collectMessage(value, `${path}.`, origins)
}
