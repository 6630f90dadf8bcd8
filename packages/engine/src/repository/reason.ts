import { CODE_TEXT, ConchError } from '@conch/protocol'

/** `<CodeText>: <message>`, the form of a reason in the index and the log. */
export function printReason(error: unknown): string {
  if (error instanceof ConchError) return `${CODE_TEXT[error.code]}: ${error.message}`
  return `${CODE_TEXT.INTERNAL}: ${error instanceof Error ? error.message : String(error)}`
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
