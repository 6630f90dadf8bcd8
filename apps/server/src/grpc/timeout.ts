/** Milliseconds a unit of `grpc-timeout`. */
const UNITS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 1e-3, n: 1e-6 }

/** `grpc-timeout` as milliseconds; undefined for what is none (then there is no deadline, as in the C++ server). */
export function parseTimeout(text: string): number | undefined {
  const match = /^(\d{1,8})([HMSmun])$/.exec(text)
  const unit = UNITS[match?.[2] ?? '']
  return unit === undefined ? undefined : Number(match?.[1]) * unit
}
