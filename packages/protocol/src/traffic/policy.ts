/** How requests that name no version are spread over the versions of one model (docs/traffic.md). Superset. */
export interface TrafficPolicy {
  /** Name → version, decimal text. */
  readonly labels: Readonly<Record<string, string>>
  /** By version number; empty = the highest ready version answers. */
  readonly split: readonly TrafficArm[]
  readonly sticky: StickyKey | undefined
  readonly shadow: ShadowRules | undefined
  readonly rollback: RollbackRules | undefined
  /** Versions that get nothing any more, and why. */
  readonly rolledBack: readonly RolledBack[]
}

/** A version as the policy names it. */
export interface NamedVersion {
  /** Decimal text. */
  readonly version: string
  /** The label or the number that was written. */
  readonly name: string
}
export interface TrafficArm extends NamedVersion {
  /** Percent, two decimals at most; those of a split sum up to 100. */
  readonly weight: number
}

/** Requests with the same value go to the same version. */
export interface StickyKey {
  /** Where the value travels: an HTTP header (gRPC: metadata), or a parameter of the request. */
  readonly from: 'header' | 'parameter'
  /** Headers in lower case. */
  readonly name: string
}

/** Copies of requests for a version whose answers only are compared. */
export interface ShadowRules extends NamedVersion {
  /** Of the requests that another version answers. */
  readonly percent: number
  /** Floating point elements match when |a − b| ≤ absolute + relative · |a|. */
  readonly absolute: number
  readonly relative: number
  /** Copies under way; more are dropped. */
  readonly maxInflight: number
  /** Tensors of one request and its answer; larger ones are dropped. */
  readonly maxBytes: number
}

/** When a version loses its requests by itself; at least one limit is set. */
export interface RollbackRules {
  /** Where they go then. */
  readonly to: NamedVersion
  readonly windowSeconds: number
  /** Nothing is decided on fewer. */
  readonly minRequests: number
  readonly errorPercent: number | undefined
  readonly latencyMs: number | undefined
  /** Of the requests of the window that must be faster than `latencyMs`. */
  readonly latencyPercentile: number
  /** Of the compared shadow answers. */
  readonly mismatchPercent: number | undefined
}

export interface RolledBack {
  readonly version: string
  readonly reason: string
  /** ISO 8601. */
  readonly at: string
}

/** Something wrong with a policy, where, and what to do about it. */
export interface TrafficProblem {
  /** As in `split.canary`; '' = the whole file. */
  readonly path: string
  readonly message: string
  readonly fix: string
}

/** The file beside a model's config.pbtxt. */
export const TRAFFIC_FILE = 'traffic.json'
/** A longer file is none. */
export const MAX_TRAFFIC_BYTES = 256 * 1024
