import type { Field } from '../descriptor.ts'
import { messageOf } from '../descriptor.ts'
import type { TextEdit } from '../problem.ts'
import { applyEdits } from '../problem.ts'
import { parsePbtxt } from './parser.ts'
import { printField, printScalar } from './print.ts'
import type { FieldNode, MessageNode, PathStep, PbtxtTree } from './tree.ts'
import { entryKey, findNode, parsePath } from './tree.ts'

/**
 * The text with the field at `path` set to `value`; undefined removes it. Nothing else changes: comments, blanks and
 * order stay. A path that the schema does not have leaves the text as it is.
 */
export function editPbtxt(text: string, path: string, value: unknown): string {
  const edits = planEdit(parsePbtxt(text).tree, path, value)
  return edits === undefined ? text : applyEdits(text, edits)
}

/** The edits that editPbtxt would make; undefined for a path that the schema does not have. */
export function planEdit(tree: PbtxtTree, path: string, value: unknown): TextEdit[] | undefined {
  const steps = parsePath(path)
  if (steps === undefined) return undefined
  return value === undefined ? planRemoval(tree, path, steps) : planChange(tree, steps, value)
}

function planRemoval(tree: PbtxtTree, path: string, steps: readonly PathStep[]): TextEdit[] | undefined {
  const found = findNode(tree, path)
  const last = steps.at(-1)
  if (found === undefined || last === undefined) return []
  if (last.key !== undefined) return removeEntry(tree, path, last)
  if (last.index === undefined) {
    const nodes = found.parent.fields.filter((node) => node.name === last.name)
    return nodes.map((node) => removeField(tree, node))
  }
  const at = found.value === undefined ? -1 : found.field.values.indexOf(found.value)
  return [removeItem(tree, found.field, at)]
}

function removeEntry(tree: PbtxtTree, path: string, last: PathStep): TextEdit[] {
  const parentPath = path.slice(0, path.lastIndexOf(`${last.name}[`)).replace(/\.$/, '')
  const parent = parentPath === '' ? tree.root : findNode(tree, parentPath)?.value
  if (parent?.kind !== 'message') return []
  const edits: TextEdit[] = []
  for (const node of parent.fields) {
    if (node.name !== last.name) continue
    for (const [index, entry] of node.values.entries()) {
      if (entry.kind === 'message' && entryKey(entry) === last.key) edits.push(removeItem(tree, node, index))
    }
  }
  return edits
}

function removeItem(tree: PbtxtTree, node: FieldNode, at: number): TextEdit {
  const value = node.values[at]
  if (value === undefined || node.values.length === 1) return removeField(tree, node)
  const next = node.values[at + 1]
  if (next !== undefined) return { from: value.start, to: next.start, insert: '' }
  return { from: node.values[at - 1]?.end ?? value.start, to: value.end, insert: '' }
}

/** With its line, when nothing else stands there. */
function removeField(tree: PbtxtTree, node: FieldNode): TextEdit {
  const { text } = tree
  let from = node.start
  let to = node.separatorEnd
  while (text[from - 1] === ' ' || text[from - 1] === '\t') from -= 1
  const isFirst = from === 0 || text[from - 1] === '\n'
  const rest = /^[ \t]*(\r?\n|$)/.exec(text.slice(to, to + 200))
  if (isFirst && rest !== null) to += rest[0].length
  else if (isFirst) {
    from = node.start
    to += /^[ \t]*/.exec(text.slice(to, to + 200))?.[0].length ?? 0
  }
  return { from, to, insert: '' }
}

/** Walks to the last written message of the path and changes or adds what is left of it. */
function planChange(tree: PbtxtTree, steps: readonly PathStep[], value: unknown): TextEdit[] | undefined {
  let parent: MessageNode = tree.root
  for (const [position, step] of steps.entries()) {
    const field = messageOf(parent.type).byName.get(step.name)
    if (field === undefined) return undefined
    const rest = steps.slice(position + 1)
    const prefix = renderStep(step)
    const found = findNode({ ...tree, root: parent }, prefix)
    const isWhole = rest.length === 0
    if (
      found === undefined ||
      (isWhole && step.index === undefined && step.key === undefined && field.label !== 'one')
    ) {
      const full = buildValue(field, { step, rest, value })
      if (full === undefined) return undefined
      return replaceAll(tree, parent, { field, step, value: full })
    }
    if (isWhole) return replaceOne(tree, found.field, { field, old: found.value, value })
    if (found.value?.kind !== 'message') return undefined
    parent = found.value
  }
  return undefined
}

function renderStep(step: PathStep): string {
  if (step.key !== undefined) return `${step.name}[${JSON.stringify(step.key)}]`
  return step.index === undefined ? step.name : `${step.name}[${String(step.index)}]`
}

interface Rest {
  readonly step: PathStep
  readonly rest: readonly PathStep[]
  readonly value: unknown
}

/** Wraps a value into the messages that are still missing: the value of `field` itself. */
function buildValue(field: Field, { step, rest, value }: Rest): unknown {
  const inner = rest.length === 0 ? value : buildMessage(field, rest, value)
  if (inner === undefined) return undefined
  if (field.label === 'map') return step.key === undefined ? inner : { [step.key]: inner }
  if (field.label === 'many') return step.index === undefined && Array.isArray(inner) ? inner : [inner]
  return inner
}

function buildMessage(field: Field, [next, ...rest]: readonly PathStep[], value: unknown): unknown {
  if (next === undefined || field.type !== 'message') return undefined
  const inner = messageOf(field.typeName).byName.get(next.name)
  const built = inner === undefined ? undefined : buildValue(inner, { step: next, rest, value })
  return built === undefined ? undefined : { [next.name]: built }
}

interface Change {
  readonly field: Field
  readonly value: unknown
}

/** The field is not written yet, or a list is given as a whole. */
function replaceAll(tree: PbtxtTree, parent: MessageNode, change: Change & { readonly step: PathStep }): TextEdit[] {
  const { field, step, value } = change
  const isWhole = step.index === undefined && step.key === undefined
  const nodes = isWhole ? parent.fields.filter((node) => node.name === field.name) : []
  const [first, ...others] = nodes
  if (first === undefined) return [insertField(tree, parent, change)]
  const indent = indentOf(tree.text, first.start)
  const insert = renderField(field, value, indent)
  const edits = others.map((node) => removeField(tree, node))
  if (insert === '') return [removeField(tree, first), ...edits]
  return [{ from: first.start, to: first.end, insert }, ...edits]
}

function replaceOne(
  tree: PbtxtTree,
  node: FieldNode,
  change: Change & { readonly old: MessageNode['fields'][number]['values'][number] | undefined },
): TextEdit[] {
  const { field, old, value } = change
  const from = old?.start ?? node.start
  const to = old?.end ?? node.end
  if (field.type !== 'message') return [{ from, to, insert: printScalar(field, value) }]
  const indent = indentOf(tree.text, node.start)
  const lines = printField({ ...field, label: 'one' }, value, indent)
  const body = lines.join('\n').slice(indent.length + field.name.length + 1)
  return [{ from, to, insert: body }]
}

function insertField(tree: PbtxtTree, parent: MessageNode, { field, value }: Change): TextEdit {
  const { text } = tree
  const last = parent.fields.at(-1)
  const isRoot = parent === tree.root || parent.start === 0
  if (last === undefined) {
    if (isRoot) return appendToRoot(text, renderField(field, value, ''))
    const outer = indentOf(text, parent.start)
    const rendered = renderField(field, value, `${outer}  `)
    return { from: parent.start + 1, to: parent.end - 1, insert: `\n${outer}  ${rendered}\n${outer}` }
  }
  const isOneLine = !isRoot && !text.slice(parent.start, parent.end).includes('\n')
  if (isOneLine) return { from: last.separatorEnd, to: last.separatorEnd, insert: ` ${renderFlat(field, value)}` }
  const indent = indentOf(text, last.start)
  const end = text.indexOf('\n', last.separatorEnd)
  const at =
    end < 0 || (!isRoot && end >= parent.end) || !/^[ \t\r]*(#.*)?$/.test(text.slice(last.separatorEnd, end))
      ? last.separatorEnd
      : end
  return { from: at, to: at, insert: `\n${indent}${renderField(field, value, indent)}` }
}

function appendToRoot(text: string, rendered: string): TextEdit {
  const glue = text === '' || text.endsWith('\n') ? '' : '\n'
  return { from: text.length, to: text.length, insert: `${glue}${rendered}\n` }
}

/** Lists of scalars on one line, everything else as the printer does; without the first indent. */
function renderField(field: Field, value: unknown, indent: string): string {
  if (field.label === 'many' && field.type !== 'message') {
    const items = (value as readonly unknown[]).map((one) => printScalar(field, one))
    return `${field.name}: [${items.length === 0 ? '' : ` ${items.join(', ')} `}]`
  }
  return printField(field, value, indent).join('\n').slice(indent.length)
}

function renderFlat(field: Field, value: unknown): string {
  const rendered = renderField(field, value, '')
  // A line break cannot stand inside a printed literal, so every one of them is layout.
  return rendered.replaceAll(/\n\s*/g, ' ')
}

function indentOf(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1
  return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? ''
}
