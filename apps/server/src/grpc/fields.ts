/** A message by its field names; see decodeMessage for what is always there. */
export type Fields = Readonly<Record<string, unknown>>
