/** How one field is declared in a table: `[declaration, number, doc, extras?]`, the declaration in the words of a .proto. */
export type FieldRow = readonly [declaration: string, number: number, doc: string, extras?: FieldExtras]
export interface FieldExtras {
  readonly oneof?: string
  /** A 64-bit integer held as bigint although it is signed. */
  readonly big?: true
  /** A 64-bit integer that the original's JSON leaves as a string. */
  readonly quoted?: true
  /** Newer than the measured release: its JSON is left out while it has its default. */
  readonly newer?: true
}
export interface MessageTable {
  readonly doc: string
  readonly fields: readonly FieldRow[]
}
