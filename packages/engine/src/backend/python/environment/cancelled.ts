import { ConchError } from '@conch/protocol'

/** What a load that is no longer wanted ends with. */
export function refuseCancelled(): ConchError {
  return new ConchError('CANCELLED', 'the load was cancelled while its Python environment was being made')
}
