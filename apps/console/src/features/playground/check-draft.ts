import { countElements, type Datatype } from '@conch/protocol'
import type { TensorRow } from '@conch/server/schemas'
import { isJsonNumber, type DraftTensor } from './draft.ts'

/** A complaint about one input, and the shape that would put it right. */
export interface InputProblem {
  readonly input: string
  readonly message: string
  readonly fix?: { readonly title: string; readonly shape: readonly number[] }
}

const RANGES: Partial<Record<Datatype, readonly [bigint, bigint]>> = {
  UINT8: [0n, 255n],
  UINT16: [0n, 65_535n],
  UINT32: [0n, 4_294_967_295n],
  UINT64: [0n, 2n ** 64n - 1n],
  INT8: [-128n, 127n],
  INT16: [-32_768n, 32_767n],
  INT32: [-(2n ** 31n), 2n ** 31n - 1n],
  INT64: [-(2n ** 63n), 2n ** 63n - 1n],
}
/** Values looked at one by one; beyond that the server's own check answers soon enough. */
const LOOKED_AT = 20_000

/** Everything that the server would refuse, before it is sent. */
export function checkInputs(inputs: readonly DraftTensor[], expected: readonly TensorRow[]): InputProblem[] {
  const sent = new Set(inputs.map((input) => input.name))
  const known = new Map(expected.map((row) => [row.name, row]))
  const missing = expected
    .filter((row) => !sent.has(row.name))
    .map((row) => ({ input: row.name, message: `Input “${row.name}” is missing.` }))
  return [...missing, ...inputs.flatMap((input) => checkInput(input, known.get(input.name)))]
}

function checkInput(input: DraftTensor, row: TensorRow | undefined): InputProblem[] {
  const problems = row === undefined ? [] : [...checkType(input, row), ...checkShape(input, row)]
  return [...problems, ...checkCount(input, row), ...checkValues(input)]
}

function checkType({ name, datatype }: DraftTensor, row: TensorRow): InputProblem[] {
  if (row.datatype === datatype) return []
  return [{ input: name, message: `“${name}” is sent as ${datatype}; the model expects ${row.datatype}.` }]
}

function checkShape({ name, shape, values }: DraftTensor, row: TensorRow): InputProblem[] {
  if (fitsShape(shape, row.shape)) return []
  const wanted = describeShape(row.shape)
  const message = `You send [${shape.join(', ')}], the model expects ${wanted}.`
  const first = row.shape[0]
  const batched = [1, ...shape]
  if (first === -1 && fitsShape(batched, row.shape)) {
    return [
      {
        input: name,
        message: `${message} The batch dimension in front is missing.`,
        fix: { title: `Make it [${batched.join(', ')}]`, shape: batched },
      },
    ]
  }
  const fitting = fitShape(row.shape, values.length)
  return [
    {
      input: name,
      message,
      ...(fitting === null ? {} : { fix: { title: `Make it [${fitting.join(', ')}]`, shape: fitting } }),
    },
  ]
}

function checkCount({ name, shape, values }: DraftTensor, row: TensorRow | undefined): InputProblem[] {
  const wanted = countElements(shape)
  if (values.length === wanted) return []
  const fitting = row === undefined ? null : fitShape(row.shape, values.length)
  const message = `${values.length} values for the shape [${shape.join(', ')}], which holds ${wanted}.`
  if (fitting === null || fitting.join() === shape.join()) return [{ input: name, message }]
  return [{ input: name, message, fix: { title: `Make it [${fitting.join(', ')}]`, shape: fitting } }]
}

function checkValues({ name, datatype, values }: DraftTensor): InputProblem[] {
  if (datatype === 'BYTES') return []
  const range = RANGES[datatype]
  for (const [index, value] of values.slice(0, LOOKED_AT).entries()) {
    const wrong =
      datatype === 'BOOL' ? checkBoolean(value) : range === undefined ? checkFloat(value) : checkInteger(value, range)
    if (wrong !== null) return [{ input: name, message: `Value ${index + 1}, “${value.slice(0, 40)}”, ${wrong}` }]
  }
  return []
}

function checkBoolean(value: string): string | null {
  return /^(true|false|0|1)$/.test(value) ? null : 'is neither true nor false.'
}

function checkFloat(value: string): string | null {
  return isJsonNumber(value) ? null : 'is not a number.'
}

function checkInteger(value: string, [least, most]: readonly [bigint, bigint]): string | null {
  if (!/^-?\d+$/.test(value)) return isJsonNumber(value) ? 'is not a whole number.' : 'is not a number.'
  const number = BigInt(value)
  return number < least || number > most ? `is outside of ${least} … ${most}.` : null
}

export function fitsShape(shape: readonly number[], expected: readonly number[]): boolean {
  return shape.length === expected.length && expected.every((dim, index) => dim === -1 || dim === shape[index])
}

/** Fills the free dimensions so that `count` elements fit: the first free one takes them, further ones are 1. */
export function fitShape(expected: readonly number[], count: number): number[] | null {
  const free = expected.indexOf(-1)
  const others = expected.reduce((product, dim) => product * (dim === -1 ? 1 : dim), 1)
  if (free < 0) return others === count ? [...expected] : null
  if (others === 0 || count === 0 || count % others !== 0) return null
  return expected.map((dim, index) => (index === free ? count / others : dim === -1 ? 1 : dim))
}

/** `[N, 3, 224, 224]`: the first free dimension is the batch more often than not. */
export function describeShape(shape: readonly number[]): string {
  return `[${shape.map((dim, index) => (dim === -1 ? (index === 0 ? 'N' : 'any') : dim)).join(', ')}]`
}
