import type { RollbackRules } from '@conch/protocol'
import type { RollingWindow } from './window.ts'

/** Why a version must lose its requests, in words; undefined = it may keep them. */
export function judgeArm(window: RollingWindow, rules: RollbackRules, now: number): string | undefined {
  const { requests, failures } = window.read(now)
  const { minRequests, errorPercent, windowSeconds } = rules
  if (requests < minRequests) return undefined
  const failed = (100 * failures) / requests
  if (errorPercent !== undefined && failed > errorPercent) {
    const what = `${failures} of ${requests} requests failed in the last ${windowSeconds} s`
    return `${what}: ${percent(failed)}, the limit is ${percent(errorPercent)}`
  }
  return judgeLatency(window, rules, now)
}

function judgeLatency(window: RollingWindow, rules: RollbackRules, now: number): string | undefined {
  const { latencyMs, latencyPercentile, minRequests, windowSeconds } = rules
  if (latencyMs === undefined) return undefined
  const { total, slow } = window.countSlow(latencyMs, now)
  if (total < minRequests || (100 * slow) / total <= 100 - latencyPercentile) return undefined
  const what = `${slow} of ${total} requests took longer than ${latencyMs} ms in the last ${windowSeconds} s`
  return `${what}: ${percent((100 * slow) / total)}, the limit is ${percent(100 - latencyPercentile)}`
}

/** The same for a version that is compared. */
export function judgeShadow(window: RollingWindow, rules: RollbackRules, now: number): string | undefined {
  const { mismatchPercent, minRequests, windowSeconds } = rules
  const { requests: compared, failures: different } = window.read(now)
  if (mismatchPercent === undefined || compared < minRequests) return undefined
  const share = (100 * different) / compared
  if (share <= mismatchPercent) return undefined
  const what = `${different} of ${compared} shadow answers differed in the last ${windowSeconds} s`
  return `${what}: ${percent(share)}, the limit is ${percent(mismatchPercent)}`
}

function percent(share: number): string {
  return `${Math.round(share * 100) / 100} %`
}
