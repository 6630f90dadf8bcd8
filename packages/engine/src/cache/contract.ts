import type { Tensor } from '@conch/protocol'

/**
 * Where responses are kept. Keys are texts `<scope>:<request>`, printable where entries are `lasting`. Whatever a store throws or rejects with is
 * logged and costs a hit, never a request.
 */
export interface CacheStore {
  /** The outputs kept under a key, to be read only; undefined = there are none. A store in memory answers at once. */
  lookup(key: string): readonly Tensor[] | undefined | Promise<readonly Tensor[] | undefined>
  /**
   * Keeps copies: the tensors may be views on memory that is given back once the answer is sent. Throws for what can not
   * be kept.
   */
  insert(key: string, outputs: readonly Tensor[]): Insertion
  /** Drops every entry of a scope, now or soon. */
  forget(scope: string): void
  /** Lets go of what it holds here. Entries that others share stay. */
  close(): Promise<void>
  /** Numbers for Prometheus, where the original has them. */
  readonly numbers?: CacheNumbers
  /** Entries outlive this server and are shared with others: scopes are made of what a model is, not of when it was loaded. */
  readonly lasting: boolean
}

/** 'known' = another request was quicker with the same key; a promise = on its way, rejects when it was lost. */
export type Insertion = 'kept' | 'known' | Promise<void>

/** What a store in memory counts; durations are microseconds. */
export interface CacheNumbers {
  /** 0 to 1. */
  readonly utilisation: number
  readonly entries: number
  readonly lookups: number
  readonly hits: number
  readonly misses: number
  readonly evictions: number
  readonly lookupUs: number
  readonly insertUs: number
}

/** `--cache-config`: which cache, and its settings. */
export interface CacheSettings {
  readonly name: string
  readonly settings: Readonly<Record<string, string>>
}
