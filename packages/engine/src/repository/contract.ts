/** Where models come from. */
export interface Source {
  /** Printable root, for logs and the index. */
  readonly root: string
  /** Names of the model directories, sorted. */
  list(): Promise<readonly string[]>
  /** A local directory holding the model, and the change stamps that tell a reload from a no-op. */
  fetch(model: string): Promise<FetchedModel | undefined>
}

export interface FetchedModel {
  readonly directory: string
  /** Newest modification per part of the tree, in nanoseconds. */
  readonly stamps: { readonly config: bigint; readonly versions: Readonly<Record<string, bigint>>; readonly other: bigint }
}

export type VersionState = 'UNKNOWN' | 'READY' | 'UNAVAILABLE' | 'LOADING' | 'UNLOADING'

export interface IndexEntry {
  readonly name: string
  /** Undefined for a directory that was never loaded, or a duplicate. */
  readonly version: string | undefined
  readonly state: VersionState | undefined
  readonly reason: string
}
