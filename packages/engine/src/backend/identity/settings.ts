import { ConchError } from '@conch/protocol'
import type { ModelConfig } from '@conch/protocol'

export interface IdentitySettings {
  /** Wait before each batch, milliseconds. */
  readonly executeDelayMs: number
  /** 0 = none, else the wait is multiplied by this and by the number of the instance. */
  readonly instanceDelayMultiplier: number
  /** Wait when the model and each of its instances are created, milliseconds. */
  readonly creationDelayMs: number
}

/** Longest wait that a config may ask for: a day, so that a slip of the pen cannot overflow a timer. */
const LONGEST_MS = 86_400_000

export function readIdentitySettings({ parameters }: ModelConfig): IdentitySettings {
  const read = (key: string, scale: number) => {
    const text = parameters[key]?.string_value
    if (text === undefined) return 0
    if (!/^\s*\+?\d+/.test(text)) throw new ConchError('INVALID_ARG', `failed to convert '${text}' to integral number`)
    return Math.min(Number.parseInt(text, 10) * scale, LONGEST_MS)
  }
  return {
    executeDelayMs: read('execute_delay_ms', 1),
    instanceDelayMultiplier: read('instance_wise_delay_multiplier', 1),
    creationDelayMs: read('creation_delay_sec', 1_000),
  }
}
