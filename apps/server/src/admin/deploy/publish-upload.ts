import { ConchError } from '@conch/protocol'
import type { z } from 'zod'
import type { AdminContext } from '../context.ts'
import type { Published, publishSchema } from './deploy.schema.ts'

export function publishUpload(_ctx: AdminContext, _input: z.infer<typeof publishSchema>): Promise<Published> {
  return Promise.reject(new ConchError('UNSUPPORTED', 'not built yet'))
}
