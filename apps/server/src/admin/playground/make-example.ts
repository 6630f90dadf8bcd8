import { ConchError } from '@conch/protocol'
import type { Services } from '../context.ts'

interface Input {
  readonly model: string
  readonly version?: string | undefined
}

export function makeExample(_services: Services, _input: Input): Promise<string> {
  return Promise.reject(new ConchError('UNSUPPORTED', 'not built yet'))
}
