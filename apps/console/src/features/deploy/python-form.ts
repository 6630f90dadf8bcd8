import { DATATYPES, type Datatype } from '@conch/protocol'

/** One tensor as it is being typed. */
export interface TensorForm {
  /** Tells it from the others, whatever their names. */
  readonly key: number
  readonly name: string
  readonly datatype: Datatype
  readonly dims: string
  readonly optional: boolean
}
export interface PythonForm {
  readonly inputs: readonly TensorForm[]
  readonly outputs: readonly TensorForm[]
  readonly maxBatch: string
  readonly decoupled: boolean
  readonly instances: string
}

export interface PythonTensor {
  readonly name: string
  readonly datatype: Datatype
  /** Without the batch; -1 = any size. */
  readonly dims: readonly number[]
  readonly optional: boolean
}
export interface PythonSignature {
  readonly inputs: readonly PythonTensor[]
  readonly outputs: readonly PythonTensor[]
  /** 0 = requests are not joined. */
  readonly maxBatchSize: number
  readonly decoupled: boolean
  readonly instances: number
}
export interface FormProblem {
  /** As in `inputs.0.dims` or `maxBatch`. */
  readonly field: string
  readonly message: string
}

/** numpy has no BF16, so a model in Python has none either. */
export const PYTHON_DATATYPES = DATATYPES.filter((datatype) => datatype !== 'BF16')

const MOST_DIMS = 16
const MOST_TENSORS = 100
const MOST_INSTANCES = 128
const MOST_BATCH = 2 ** 31 - 1

export const FIRST_FORM: PythonForm = {
  inputs: [{ key: 1, name: 'INPUT', datatype: 'FP32', dims: '-1', optional: false }],
  outputs: [{ key: 2, name: 'OUTPUT', datatype: 'FP32', dims: '-1', optional: false }],
  maxBatch: '0',
  decoupled: false,
  instances: '1',
}

/** A further tensor with a name that is free. */
export function addTensor(rows: readonly TensorForm[], side: 'INPUT' | 'OUTPUT', key: number): readonly TensorForm[] {
  const names = new Set(rows.map(({ name }) => name))
  let number = rows.length
  while (names.has(`${side}${number}`)) number += 1
  const name = rows.length === 0 ? side : `${side}${number}`
  return [
    ...rows,
    { key, name, datatype: rows.at(-1)?.datatype ?? 'FP32', dims: rows.at(-1)?.dims ?? '-1', optional: false },
  ]
}

/** Sizes from `3, -1, 224`, brackets and words like `any` included; null when it is something else. */
export function parseDims(text: string): readonly number[] | null {
  const parts = text.split(/[\s,;x×[\]()]+/).filter(Boolean)
  const dims = parts.map((part) =>
    /^(any|\*|\?|-1|−1)$/i.test(part) ? -1 : /^\d{1,10}$/.test(part) ? Number(part) : 0,
  )
  return dims.length > MOST_DIMS || dims.some((dim) => dim === 0) ? null : dims
}

/** Everything that is wrong with the form. */
export function checkForm(form: PythonForm): readonly FormProblem[] {
  return [
    ...checkSide('inputs', form.inputs),
    ...checkSide('outputs', form.outputs),
    ...checkNumber('maxBatch', form.maxBatch, { least: 0, most: MOST_BATCH }),
    ...checkNumber('instances', form.instances, { least: 1, most: MOST_INSTANCES }),
  ]
}

function checkSide(side: 'inputs' | 'outputs', rows: readonly TensorForm[]): readonly FormProblem[] {
  const problems: FormProblem[] = []
  if (rows.length === 0) problems.push({ field: side, message: `A model needs at least one ${side.slice(0, -1)}` })
  if (rows.length > MOST_TENSORS) problems.push({ field: side, message: `At most ${MOST_TENSORS} can be written here` })
  for (const [index, { name, dims }] of rows.entries()) {
    const message = checkName(name, rows.slice(0, index))
    if (message !== null) problems.push({ field: `${side}.${index}.name`, message })
    const sizes = parseDims(dims)
    if (sizes === null)
      problems.push({ field: `${side}.${index}.dims`, message: 'Whole numbers from 1, or -1 for any size' })
    else if (sizes.length === 0)
      problems.push({ field: `${side}.${index}.dims`, message: 'At least one; a single value is 1' })
  }
  return problems
}

function checkName(name: string, before: readonly TensorForm[]): string | null {
  if (name.trim() === '') return 'It needs a name'
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u001f"\\]/.test(name) || name !== name.trim()) return 'No quotes, backslashes or blanks around it'
  return before.some((row) => row.name === name) ? 'There is one of this name already' : null
}

function checkNumber(field: string, text: string, { least, most }: { least: number; most: number }): FormProblem[] {
  const value = /^\d{1,10}$/.test(text.trim()) ? Number(text) : -1
  return value >= least && value <= most ? [] : [{ field, message: `A whole number from ${least} to ${most}` }]
}

/** What a form without problems says; null while there are some. */
export function readSignature(form: PythonForm): PythonSignature | null {
  if (checkForm(form).length > 0) return null
  const read = ({ name, datatype, dims, optional }: TensorForm): PythonTensor => ({
    name,
    datatype,
    dims: parseDims(dims) ?? [],
    optional,
  })
  return {
    inputs: form.inputs.map(read),
    outputs: form.outputs.map((row) => ({ ...read(row), optional: false })),
    maxBatchSize: Number(form.maxBatch),
    decoupled: form.decoupled,
    instances: Number(form.instances),
  }
}
