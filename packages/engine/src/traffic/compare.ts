import { bfloatToNumber, halfToNumber, viewElements } from '@conch/protocol'
import type { Tensor } from '@conch/protocol'

export interface Tolerance {
  readonly absolute: number
  readonly relative: number
}

const FLOATS: Readonly<Record<string, (element: number) => number>> = {
  FP16: halfToNumber,
  BF16: bfloatToNumber,
  FP32: Number,
  FP64: Number,
}

/** How an answer differs from the one that was given, in words; undefined = it does not. Order of outputs is no difference. */
export function findDifference(
  given: readonly Tensor[],
  other: readonly Tensor[],
  tolerance: Tolerance,
): string | undefined {
  for (const output of given) {
    const twin = other.find(({ name }) => name === output.name)
    if (twin === undefined) return `output '${output.name}' is missing`
    const difference = compareTensor(output, twin, tolerance)
    if (difference !== undefined) return `output '${output.name}' ${difference}`
  }
  const extra = other.find(({ name }) => !given.some((output) => output.name === name))
  return extra && `output '${extra.name}' is new`
}

function compareTensor(given: Tensor, other: Tensor, tolerance: Tolerance): string | undefined {
  if (given.datatype !== other.datatype) return `is ${other.datatype} instead of ${given.datatype}`
  if (given.shape.join() !== other.shape.join()) {
    return `has shape [${other.shape.join()}] instead of [${given.shape.join()}]`
  }
  if (Buffer.compare(given.data, other.data) === 0) return undefined
  const toNumber = FLOATS[given.datatype]
  if (toNumber === undefined) return 'has other elements'
  const before = viewElements(given.datatype, given.data)
  const after = viewElements(given.datatype, other.data)
  for (let i = 0; i < before.length; i++) {
    const a = toNumber(Number(before[i]))
    const b = toNumber(Number(after[i]))
    if (!isClose(a, b, tolerance)) return `has element ${i} = ${b} instead of ${a}`
  }
  return undefined
}

function isClose(a: number, b: number, { absolute, relative }: Tolerance): boolean {
  if (Object.is(a, b) || a === b) return true
  // Neither an infinity nor a NaN is close to anything but itself.
  return Number.isFinite(a) && Math.abs(a - b) <= absolute + relative * Math.abs(a)
}
