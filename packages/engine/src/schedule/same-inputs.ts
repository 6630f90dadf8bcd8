import type { ModelConfig, Tensor } from '@conch/protocol'
import type { ActiveRequest } from '../request.ts'

interface Holder {
  readonly request: ActiveRequest
}

/**
 * What must be equal for two requests to run as one batch (dynamic batching §3b): shapes where the model has variable
 * dimensions and the input is not ragged, contents of shape tensors, the set of inputs where some are optional.
 * Undefined when any two requests fit.
 */
export function chooseFit(config: ModelConfig): ((first: Holder, next: Holder) => boolean) | undefined {
  const optional = config.input.some((input) => input.optional)
  const shaped = config.input.filter((input) => !input.allow_ragged_batch && input.dims.some((dim) => dim < 0))
  const contents = config.input.filter((input) => input.is_shape_tensor)
  if (!optional && shaped.length === 0 && contents.length === 0) return undefined
  const compared = new Map(shaped.map((input) => [input.name, hasSameShape]))
  for (const input of contents) compared.set(input.name, hasSameContent)
  return (first, next) => {
    const a = first.request.request.inputs
    const b = next.request.request.inputs
    if (optional && !hasSameNames(a, b)) return false
    return a.every((tensor) => {
      const compare = compared.get(tensor.name)
      const other = compare === undefined ? undefined : b.find(({ name }) => name === tensor.name)
      return compare === undefined || (other !== undefined && compare(tensor, other))
    })
  }
}

/** Without the batch dimension. */
function hasSameShape(a: Tensor, b: Tensor): boolean {
  return a.shape.length === b.shape.length && a.shape.every((dim, i) => i === 0 || dim === b.shape[i])
}

function hasSameContent(a: Tensor, b: Tensor): boolean {
  return Buffer.compare(a.data, b.data) === 0
}

function hasSameNames(a: readonly Tensor[], b: readonly Tensor[]): boolean {
  return a.length === b.length && a.every((tensor) => b.some(({ name }) => name === tensor.name))
}
