/** Nanoseconds of the monotonic clock when the clock of the stamps was 0. */
const STEADY = process.hrtime.bigint() - toNs(performance.now())
/** Nanoseconds since 1970 at the same moment; a clock that is set later changes nothing here. */
const WALL = BigInt(Math.round(performance.timeOrigin * 1e3)) * 1_000n

/** Stamps are milliseconds with fractions. */
function toNs(stamp: number): bigint {
  return BigInt(Math.round(stamp * 1e6))
}

/** What `clock_gettime(CLOCK_MONOTONIC)` said at a stamp. */
export function toSteadyNs(stamp: number): bigint {
  return STEADY + toNs(stamp)
}

export function toWallNs(stamp: number): bigint {
  return WALL + toNs(stamp)
}
