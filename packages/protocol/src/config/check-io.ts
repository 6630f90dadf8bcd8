import type { Complaints } from './complaints.ts'
import type { ModelInput, ModelOutput } from './schema.ts'

type Tensor = ModelInput | ModelOutput
interface Place {
  readonly tensor: Tensor
  readonly kind: 'input' | 'output'
  readonly path: string
  /** As in `model input 'X'`. */
  readonly label: string
}

export function checkTensors(complaints: Complaints): void {
  for (const kind of ['input', 'output'] as const) {
    for (const [index, tensor] of complaints.config[kind].entries()) {
      const label = `model ${kind} '${tensor.name}'`
      checkTensor(complaints, { tensor, kind, path: `${kind}[${String(index)}]`, label })
    }
    warnTwice(complaints, kind)
  }
}

function warnTwice(complaints: Complaints, kind: 'input' | 'output'): void {
  const seen = new Set<string>()
  for (const [index, { name }] of complaints.config[kind].entries()) {
    if (name !== '' && seen.has(name)) {
      complaints.add(`${kind}[${String(index)}].name`, `${kind} '${name}' is described twice`, { severity: 'warning' })
    }
    seen.add(name)
  }
}

function checkTensor(complaints: Complaints, place: Place): void {
  const { tensor, kind, path, label } = place
  const { name } = complaints.config
  if (tensor.name === '') complaints.add(path, `model ${kind} must specify 'name' for ${name}`)
  if (tensor.data_type === 'TYPE_INVALID') {
    const hint = 'as in data_type: TYPE_FP32'
    complaints.add(path, `${label} must specify 'data_type' for ${name}`, { hint })
  }
  checkDims(complaints, place)
  if (tensor.reshape !== undefined) checkReshape(complaints, place, tensor.reshape.shape)
  if ('format' in tensor && tensor.format !== 'FORMAT_NONE' && tensor.dims.length !== 3) {
    const hint = `there are ${String(tensor.dims.length)}`
    complaints.add(`${path}.format`, `model input NHWC/NCHW require 3 dims for ${name}`, { hint })
  }
  checkTensorRtOnly(complaints, place)
}

function checkTensorRtOnly(complaints: Complaints, { tensor, kind, path }: Place): void {
  const { name, platform, backend } = complaints.config
  const isTensorRt = platform === 'tensorrt_plan' || backend === 'tensorrt'
  if (tensor.is_shape_tensor && !isTensorRt) {
    complaints.add(`${path}.is_shape_tensor`, `shape tensors are only supported for TensorRT platform for ${name}`)
  }
  if (!tensor.is_non_linear_format_io) return
  const at = `${path}.is_non_linear_format_io`
  if (!isTensorRt) complaints.add(at, `Non-linear IO format is only supported for the TensorRT platform for ${name}`)
  else if (tensor.dims.length !== 3) complaints.add(at, `Non-linear IO format ${kind} requires 3 dims for ${name}`)
}

function checkDims(complaints: Complaints, { tensor, path, label }: Place): void {
  const { name, max_batch_size: most } = complaints.config
  if (tensor.dims.length === 0) {
    const hint =
      most > 0
        ? 'one value per row is written dims: [ 1 ] reshape: { shape: [ ] }'
        : 'a single value is written dims: [ 1 ]'
    const repair = { title: 'Write dims: [ 1 ]', path: `${path}.dims`, value: [1] }
    complaints.add(path, `${label} must specify 'dims' for ${name}`, { hint, repair })
  }
  for (const [index, dim] of tensor.dims.entries()) {
    if (isDim(dim)) continue
    const original = `${label} dimension must be integer >= 1, or -1 to indicate a variable-size dimension for ${name}`
    complaints.add(`${path}.dims[${String(index)}]`, original, { hint: `it is ${String(dim)}` })
  }
  if (most > 0 && tensor.dims[0] === -1 && tensor.dims.length > 1) {
    const text = `${label}: dims start with -1 although max_batch_size ${String(most)} already implies a batch dimension`
    const repair = { title: 'Remove the leading -1', path: `${path}.dims`, value: tensor.dims.slice(1) }
    complaints.add(`${path}.dims[0]`, text, { severity: 'hint', repair })
  }
}

function isDim(dim: number): boolean {
  return dim >= 1 || dim === -1
}

function checkReshape(complaints: Complaints, { tensor, path, label }: Place, shape: readonly number[]): void {
  const { name, max_batch_size: most } = complaints.config
  const at = `${path}.reshape`
  const hint = `dims [${tensor.dims.join(', ')}], reshape [${shape.join(', ')}]`
  if (shape.length === 0 && most === 0) {
    const original = `${label} cannot have empty reshape for non-batching model as scalar tensors are not supported for ${name}`
    complaints.add(at, original, { repair: { title: 'Remove reshape', path: at, value: undefined } })
    return
  }
  if (!shape.every(isDim)) {
    const original = `${label} reshape dimensions must be integer >= 1, or -1 to indicate a variable-size dimension for ${name}`
    complaints.add(`${at}.shape`, original, { hint })
    return
  }
  if (!tensor.dims.every(isDim)) return
  const fault = compareShapes(tensor.dims, shape)
  if (fault !== undefined)
    complaints.add(at, `${label} has different ${fault} for dims and reshape for ${name}`, { hint })
}

/** Element counts must agree between each two variable dimensions; an empty reshape needs one element. */
function compareShapes(dims: readonly number[], shape: readonly number[]): string | undefined {
  const wanted = countChunks(dims)
  const given = countChunks(shape)
  if (wanted.length > 1 !== given.length > 1) return 'size'
  if (wanted.length !== given.length) return 'number of variable-size dimensions'
  return wanted.some((size, index) => size !== given[index]) ? 'size' : undefined
}

function countChunks(dims: readonly number[]): bigint[] {
  const chunks = [1n]
  for (const dim of dims) {
    if (dim === -1) chunks.push(1n)
    else chunks[chunks.length - 1] = (chunks.at(-1) ?? 1n) * BigInt(dim)
  }
  return chunks
}
