import type { Published } from '@conch/server/schemas'

/** A version that was to be loaded, and was not: the model may go on with the one before. */
export function isNotLoaded({ failure, state, reason }: Published): boolean {
  return failure !== undefined || (state === 'UNAVAILABLE' && reason !== '' && reason !== 'unloaded')
}
