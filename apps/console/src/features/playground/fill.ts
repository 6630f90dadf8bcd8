import type { Datatype } from '@conch/protocol'

export type Fill = 'zeros' | 'random' | 'range'

const INTEGER = /^U?INT/
/** Random integers stay small: they are indices and counts more often than not. */
const MOST_RANDOM = 10

/** Values to begin with. `random` gives 0 … 1. */
export function fillValues(
  fill: Fill,
  { datatype, count }: { datatype: Datatype; count: number },
  random: () => number = Math.random,
): string[] {
  const make = { zeros: () => 0, random, range: (index: number) => index }[fill]
  return Array.from({ length: count }, (_, index) => printFill(make(index), { datatype, fill, index }))
}

function printFill(
  value: number,
  { datatype, fill, index }: { datatype: Datatype; fill: Fill; index: number },
): string {
  if (datatype === 'BYTES') return fill === 'zeros' ? '' : `text ${index + 1}`
  if (datatype === 'BOOL') return String(fill === 'range' ? index % 2 === 1 : value >= 0.5)
  if (INTEGER.test(datatype)) return String(fill === 'random' ? Math.floor(value * MOST_RANDOM) : value % 128)
  return fill === 'random' ? value.toFixed(4).replace(/\.?0+$/, '') : String(value)
}

/** The shortest decimal that is this 32-bit float. */
export function printFloat(value: number): string {
  if (!Number.isFinite(value)) return '0'
  for (let digits = 6; digits < 9; digits += 1) {
    const short = Number(value.toPrecision(digits))
    if (Math.fround(short) === Math.fround(value)) return String(short)
  }
  return String(Number(value.toPrecision(9)))
}

/** Numbers as an input takes them: whole ones are rounded and kept inside their range. */
export function printNumbers(values: ArrayLike<number>, datatype: Datatype): string[] {
  if (datatype === 'BOOL') return Array.from(values, (value) => String(value >= 0.5))
  if (!INTEGER.test(datatype)) return Array.from(values, printFloat)
  const bits = Number(datatype.replace(/\D/g, ''))
  const most = Math.min(Number.MAX_SAFE_INTEGER, datatype.startsWith('U') ? 2 ** bits - 1 : 2 ** (bits - 1) - 1)
  const least = datatype.startsWith('U') ? 0 : -most - 1
  return Array.from(values, (value) => String(Math.min(most, Math.max(least, Math.round(value))) || 0))
}
