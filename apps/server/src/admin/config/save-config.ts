import { ConchError } from '@conch/protocol'
import type { z } from 'zod'
import type { AdminContext } from '../context.ts'
import type { SavedConfig, saveConfigSchema } from './config.schema.ts'

export function saveConfig(_ctx: AdminContext, _input: z.infer<typeof saveConfigSchema>): Promise<SavedConfig> {
  return Promise.reject(new ConchError('UNSUPPORTED', 'not built yet'))
}
