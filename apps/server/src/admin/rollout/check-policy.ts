import { readTrafficPolicy } from '@conch/protocol'
import type { CheckedRollout } from './rollout.schema.ts'

/** Every problem of a text, without applying it. */
export function checkPolicy(text: string): CheckedRollout {
  try {
    return { problems: readTrafficPolicy(JSON.parse(text)).problems }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return { problems: [{ path: '', message: `is no JSON: ${error.message}`, fix: 'correct it' }] }
  }
}
