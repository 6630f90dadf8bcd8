import { isDatatype, locate, toConfigDatatype, toProtocolDatatype, type ModelConfig } from '@conch/protocol'
import type { CheckedText } from '../check-text.ts'
import type { ConfigProblem } from '../model.schema.ts'
import type { Signature, SignatureTensor } from './deploy.schema.ts'

interface Side {
  readonly field: 'input' | 'output'
  readonly written: readonly {
    readonly name: string
    readonly data_type: string
    readonly dims: readonly number[]
    readonly reshape?: unknown
  }[]
  readonly found: readonly SignatureTensor[]
}

/** Where the config and the model's file disagree: what a load would refuse, said before it. */
export function checkSignature(
  checked: Pick<CheckedText, 'config' | 'tree'>,
  signature: Signature,
): readonly ConfigProblem[] {
  const { config } = checked
  const sides: readonly Side[] = [
    { field: 'input', written: config.input, found: signature.inputs },
    { field: 'output', written: config.output, found: signature.outputs },
  ]
  return sides.flatMap((side) => checkSide(checked, config, side))
}

function checkSide(
  { tree }: Pick<CheckedText, 'tree'>,
  config: ModelConfig,
  { field, written, found }: Side,
): readonly ConfigProblem[] {
  const problems: ConfigProblem[] = []
  const add = (path: string, message: string, { expected, repair }: Wanted) => {
    const at = locate(tree, path)
    const column = at === undefined ? 1 : at.start - tree.text.lastIndexOf('\n', at.start - 1)
    const place = { line: at?.line ?? 1, column, from: at?.start ?? 0, to: at?.end ?? 0 }
    problems.push({ severity: 'error', message, ...place, path, expected, fix: planFix(place, repair) })
  }
  for (const [i, tensor] of written.entries()) {
    const path = `${field}[${i}]`
    const real = found.find(({ name }) => name === tensor.name)
    if (real === undefined) {
      const names = found.map(({ name }) => name).join(', ')
      add(`${path}.name`, `the model has no ${field} '${tensor.name}'; it has ${names}`, { expected: names })
      continue
    }
    const datatype = toProtocolDatatype(tensor.data_type)
    if (datatype !== real.datatype) {
      add(
        `${path}.data_type`,
        `'${tensor.name}' is ${real.datatype || 'no tensor'} in the model's file`,
        nameType(real),
      )
    }
    if (tensor.reshape === undefined && !fits(tensor.dims, real.shape, config.max_batch_size > 0)) {
      const shape = `[ ${real.shape.join(', ')} ]`
      const note = config.max_batch_size > 0 ? ', its first dimension being the batch' : ''
      add(`${path}.dims`, `'${tensor.name}' has the shape ${shape} in the model's file${note}`, { expected: shape })
    }
  }
  return problems
}

interface Wanted {
  readonly expected: string
  /** What to write instead. */
  readonly repair?: string
}

function nameType({ datatype }: SignatureTensor): Wanted {
  if (!isDatatype(datatype)) return { expected: 'a tensor' }
  const name = toConfigDatatype(datatype)
  return { expected: name, repair: name }
}

function planFix({ from, to }: { from: number; to: number }, insert: string | undefined): ConfigProblem['fix'] {
  if (insert === undefined || to <= from) return null
  return { title: `Write ${insert}`, edits: [{ from, to, insert }] }
}

function fits(dims: readonly number[], shape: readonly number[], batched: boolean): boolean {
  const full = batched ? [-1, ...dims] : dims
  // A scalar is written as [ 1 ] where a config must have at least one dimension.
  if (shape.length === 0) return dims.length === 0 || (dims.length === 1 && dims[0] === 1)
  return full.length === shape.length && full.every((dim, i) => dim === shape[i] || dim === -1 || shape[i] === -1)
}
