export interface LogLine {
  /** Grows by one a line; a jump is a gap. */
  readonly id: number
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly level: 'verbose' | 'info' | 'warning' | 'error'
  readonly text: string
}
