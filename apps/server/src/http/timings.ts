import type { Timings } from '@conch/engine'

export function newTimings(): Timings {
  return { start: 0, queued: 0, computeStart: 0, computeInputEnd: 0, computeOutputStart: 0, computeEnd: 0, end: 0 }
}
