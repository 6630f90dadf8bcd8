import type { FieldNode, MessageNode, PbtxtTree } from '@conch/protocol'

export interface FieldAt {
  /** As in `dynamic_batching.max_queue_delay_microseconds`. */
  readonly path: string
  readonly from: number
  readonly to: number
}

/** The field whose name stands at an offset. */
export function fieldAt(tree: PbtxtTree, offset: number): FieldAt | undefined {
  return search(tree.root, '', offset)
}

function search(message: MessageNode, prefix: string, offset: number): FieldAt | undefined {
  const node = message.fields.find((field) => field.start <= offset && offset <= field.end)
  if (node === undefined) return undefined
  const path = prefix + node.name
  if (offset <= node.nameEnd) return { path, from: node.start, to: node.nameEnd }
  const inner = messagesOf(node).find((value) => value.start <= offset && offset <= value.end)
  return inner === undefined ? undefined : search(inner, `${path}.`, offset)
}

function messagesOf(node: FieldNode): MessageNode[] {
  return node.values.filter((value) => value.kind === 'message')
}
