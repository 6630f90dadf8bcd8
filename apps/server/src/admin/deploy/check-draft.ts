import { ConchError } from '@conch/protocol'
import type { z } from 'zod'
import type { AdminContext } from '../context.ts'
import type { CheckResult, checkSchema } from './deploy.schema.ts'

export function checkDraft(_ctx: AdminContext, _input: z.infer<typeof checkSchema>): Promise<CheckResult> {
  return Promise.reject(new ConchError('UNSUPPORTED', 'not built yet'))
}
