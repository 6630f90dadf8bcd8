import { ConchError } from '@conch/protocol'
import type { Services } from '../context.ts'
import type { ModelDetails } from './models.schema.ts'

interface Input {
  readonly model: string
  readonly version?: string | undefined
}

export function getModel(_services: Services, _input: Input): Promise<ModelDetails> {
  return Promise.reject(new ConchError('UNSUPPORTED', 'not built yet'))
}
