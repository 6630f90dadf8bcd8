import { ConchError } from '@conch/protocol'

const LONG = /^\s*([+-]?\d+)/

/** Where a model's labels are looked up. */
interface Labels {
  findLabel(model: string, label: string): string | undefined
}

/** Superset: a label that the model has stands for its version (docs/traffic.md). Everything else is read as ever. */
export function findVersion(labels: Labels, model: string, text: string): string {
  const isLabel = text !== '' && /^[A-Za-z_]/.test(text)
  return (isLabel ? labels.findLabel(model, text) : undefined) ?? readVersion(text)
}

/**
 * A version as the original reads it (C's `stol`): '' and -1 are the latest, what follows the digits is ignored.
 * Throws INVALID_ARG with its text.
 */
export function readVersion(text: string): string {
  if (text === '') return ''
  const digits = LONG.exec(text)?.[1]
  const number = digits === undefined ? undefined : BigInt(digits)
  if (number === undefined || number >= 2n ** 63n || number < -(2n ** 63n)) refuseVersion(text)
  return number === -1n ? '' : String(number)
}

/** What is no 64-bit integer, in the original's words. */
export function refuseVersion(text: string): never {
  throw new ConchError(
    'INVALID_ARG',
    `failed to get model version from specified version string '${text}' (details: stol), version should be an integral value > 0`,
  )
}
