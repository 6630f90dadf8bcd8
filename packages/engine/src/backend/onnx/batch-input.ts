import type { BatchInput } from '@conch/protocol'
import type { ActiveRequest } from '../../request.ts'

export interface GeneratedTensor {
  readonly shape: readonly number[]
  readonly data: Uint8Array
}

/**
 * A tensor that tells a model how requests were joined, computed from the shapes of a source input
 * (config reference §1, BatchInput). Item = one request's tensor without its batch dimension.
 */
export function generateBatchInput(rule: BatchInput, requests: readonly ActiveRequest[]): GeneratedTensor {
  const source = rule.source_input[0]
  const shapes = requests.map(({ request }) => request.inputs.find(({ name }) => name === source)?.shape ?? [])
  const { shape, values } = computeValues(rule.kind, shapes)
  const isFloat = rule.data_type === 'TYPE_FP32'
  const array = isFloat ? Float32Array.from(values) : Int32Array.from(values)
  return { shape, data: new Uint8Array(array.buffer) }
}

function computeValues(kind: BatchInput['kind'], shapes: readonly (readonly number[])[]) {
  const counts = shapes.map((shape) => shape.slice(1).reduce((product, dim) => product * dim, 1))
  switch (kind) {
    case 'BATCH_ELEMENT_COUNT':
      return flat(counts)
    case 'BATCH_ACCUMULATED_ELEMENT_COUNT':
      return flat(accumulate(counts).slice(1))
    case 'BATCH_ACCUMULATED_ELEMENT_COUNT_WITH_ZERO':
      return flat(accumulate(counts))
    case 'BATCH_MAX_ELEMENT_COUNT_AS_SHAPE':
      // Only its shape speaks; the contents are zeros.
      return flat(Array.from({ length: Math.max(0, ...counts) }, () => 0))
    case 'BATCH_ITEM_SHAPE': {
      const values = listItemShapes(shapes)
      const rank = Math.max(0, (shapes[0]?.length ?? 1) - 1)
      return { shape: [rank === 0 ? 0 : values.length / rank, rank], values }
    }
    case 'BATCH_ITEM_SHAPE_FLATTEN':
      return flat(listItemShapes(shapes))
  }
}

function flat(values: readonly number[]) {
  return { shape: [values.length], values }
}

/** Running sums, with a leading zero. */
function accumulate(counts: readonly number[]): readonly number[] {
  const sums = [0]
  for (const count of counts) sums.push((sums.at(-1) ?? 0) + count)
  return sums
}

/** The item shape of every row. */
function listItemShapes(shapes: readonly (readonly number[])[]): readonly number[] {
  return shapes.flatMap((shape) => Array.from({ length: shape[0] ?? 0 }, () => shape.slice(1)).flat())
}
