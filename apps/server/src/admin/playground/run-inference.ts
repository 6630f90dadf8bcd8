import { ConchError } from '@conch/protocol'
import type { z } from 'zod'
import type { AdminContext } from '../context.ts'
import type { InferResult, inferSchema } from './playground.schema.ts'

export function runInference(_ctx: AdminContext, _input: z.infer<typeof inferSchema>): Promise<InferResult> {
  return Promise.reject(new ConchError('UNSUPPORTED', 'not built yet'))
}
