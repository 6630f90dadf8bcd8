import { ConchError } from '@conch/protocol'
import type { z } from 'zod'
import type { AdminContext } from '../context.ts'
import type { Inspection, inspectSchema } from './deploy.schema.ts'

export function inspectUpload(_ctx: AdminContext, _input: z.infer<typeof inspectSchema>): Promise<Inspection> {
  return Promise.reject(new ConchError('UNSUPPORTED', 'not built yet'))
}
