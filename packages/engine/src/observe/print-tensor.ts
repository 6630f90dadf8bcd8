import { iterateBytes, viewElements } from '@conch/protocol'
import type { Tensor } from '@conch/protocol'

/**
 * The values of a tensor as traces show them: joined by commas, floats with six digits as C++ streams print them. FP16 and
 * BF16 have no text in the original. 8-bit integers are numbers here; the original writes them as characters.
 */
export function printTensor({ datatype, data }: Tensor): string {
  if (datatype === 'FP16' || datatype === 'BF16') return ''
  if (datatype === 'BYTES') return printTexts(data)
  const elements = viewElements(datatype, data)
  let text = ''
  for (const element of elements) {
    const one = typeof element === 'number' && isFloat(datatype) ? printFloat(element) : String(element)
    text += text === '' ? one : `,${one}`
  }
  return text
}

function isFloat(datatype: string): boolean {
  return datatype === 'FP32' || datatype === 'FP64'
}

function printTexts(data: Uint8Array): string {
  const texts: string[] = []
  for (const item of iterateBytes(data)) texts.push(`"${Buffer.from(item).toString()}"`)
  return texts.join()
}

const DIGITS = 6

/** C's `%g`. */
export function printFloat(value: number): string {
  if (Number.isNaN(value)) return 'nan'
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf'
  if (value === 0) return Object.is(value, -0) ? '-0' : '0'
  const [digits = '', exponent = '0'] = value.toExponential(DIGITS - 1).split('e')
  const power = Number(exponent)
  if (power >= -4 && power < DIGITS) return trim(value.toFixed(DIGITS - 1 - power))
  return `${trim(digits)}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`
}

function trim(digits: string): string {
  return digits.includes('.') ? digits.replace(/\.?0+$/, '') : digits
}
