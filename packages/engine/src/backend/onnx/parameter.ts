import { ConchError } from '@conch/protocol'

/** Booleans and numbers in parameters, read as the original reads them (other backends §6). All throw INVALID_ARG. */
export function readBoolean(text: string): boolean {
  const lower = text.toLowerCase()
  if (['true', 'on', '1'].includes(lower)) return true
  if (['false', 'off', '0'].includes(lower)) return false
  throw new ConchError('INVALID_ARG', `failed to convert '${text}' to boolean`)
}

/** Takes a number with anything behind it, as C's functions do. */
export function readInteger(text: string): number {
  const value = matchNumber(text, /^\s*[+-]?\d+/)
  if (value === undefined || Math.abs(value) > 2 ** 31) {
    throw new ConchError('INVALID_ARG', `failed to convert '${text}' to integral number`)
  }
  return value
}

export function readUnsigned(text: string): string {
  if (matchNumber(text, /^\s*\+?\d+/) === undefined) {
    throw new ConchError('INVALID_ARG', `failed to convert '${text}' to unsigned long long integral number`)
  }
  return text.trim()
}

function matchNumber(text: string, form: RegExp): number | undefined {
  const match = form.exec(text)
  return match === null ? undefined : Number(match[0])
}
