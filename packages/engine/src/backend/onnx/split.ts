import { ConchError, countElements, sliceRows } from '@conch/protocol'
import type { Tensor } from '@conch/protocol'
import type { ActiveRequest } from '../../request.ts'
import { reshape } from './reshape.ts'
import type { FetchPlan } from './tensor-plan.ts'

/** Cuts one output of a batch into each request's part, as views. A part is a tensor or why there is none. */
export function splitOutput(
  plan: FetchPlan,
  made: Pick<Tensor, 'shape' | 'data'>,
  batch: { readonly requests: readonly ActiveRequest[]; readonly batches: boolean },
): readonly (Tensor | ConchError)[] {
  const { name, datatype } = plan
  const whole: Tensor = { name, datatype, shape: plan.scalarDims ?? made.shape, data: made.data }
  const { requests, batches } = batch
  if (plan.scatteredBy !== undefined) return scatter(whole, requests, plan.scatteredBy)
  if (!batches) return requests.map(() => finish(plan, whole))
  let from = 0
  return requests.map((request) => {
    const rows = countRows(request)
    const part = takeRows(whole, from, rows)
    from += rows
    return part instanceof ConchError ? part : finish(plan, part)
  })
}

/** A request may bring zero rows; it counts as one in a queue. */
function countRows({ rows, request }: ActiveRequest): number {
  return rows === 1 && request.inputs[0]?.shape[0] === 0 ? 0 : rows
}

function takeRows(whole: Tensor, from: number, rows: number): Tensor | ConchError {
  const have = whole.shape[0] ?? 0
  if (from + rows <= have) return from === 0 && rows === have ? whole : sliceRows(whole, from, rows)
  const what = `failed to split the output tensor '${whole.name}' in responses`
  const text = `${what}: expected batch size of at least ${from + rows} in model output, got ${have}`
  return new ConchError('UNSUPPORTED', text)
}

function finish({ reshape: rule }: FetchPlan, tensor: Tensor): Tensor {
  return rule === undefined ? tensor : { ...tensor, shape: reshape(tensor.shape, rule) }
}

/** The output is one flat sequence; each request gets as many elements as its source input has, in that shape. */
function scatter(whole: Tensor, requests: readonly ActiveRequest[], source: string): readonly (Tensor | ConchError)[] {
  const flat = { ...whole, shape: [countElements(whole.shape)] }
  let from = 0
  return requests.map(({ request }) => {
    const shape = request.inputs.find(({ name }) => name === source)?.shape ?? []
    const count = countElements(shape)
    const part = takeRows(flat, from, count)
    from += count
    return part instanceof ConchError ? part : { ...part, shape }
  })
}
