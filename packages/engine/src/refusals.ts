import type { ConchError } from '@conch/protocol'
import type { Flight } from './request.ts'

/** A request with a flaw that the original notices only in the backend: it fails as that would have done. */
export function failAccepted(flight: Flight, flaw: ConchError): void {
  flight.timings.queued = performance.now()
  flight.fail(flaw, 'backend')
}

/** A request that its schedule did not take: its stamps say so. */
export function refuse(flight: Flight, error: unknown): void {
  flight.timings.queued = 0
  flight.fail(error, 'rejected')
}
