import { tracked } from '@trpc/server'
import { followEvents } from '../follow-events.ts'
import { resumeSchema } from '../resume.schema.ts'
import { router, viewerProcedure } from '../trpc.ts'
import { modelLogSchema, type LogLine } from './log.schema.ts'

/** Lines sent before following. */
const FIRST = 200
export const logRouter = router({
  tail: viewerProcedure.input(resumeSchema).subscription(async function* ({ ctx, input, signal }) {
    const { tail } = ctx.services
    const seen = Number(input?.lastEventId ?? 0)
    const lines = followEvents<LogLine>((push) => {
      for (const line of tail.recent(FIRST)) if (line.id > seen) push(line)
      return tail.follow(push)
    }, signal)
    for await (const line of lines) yield tracked(String(line.id), line)
  }),
  /** What one model says, on its standard output too, and what is said about it. */
  model: viewerProcedure.input(modelLogSchema).subscription(async function* ({ ctx, input, signal }) {
    const { tail } = ctx.services
    const seen = Number(input.lastEventId ?? 0)
    const lines = followEvents<LogLine>((push) => {
      for (const line of tail.recentOf(input.model)) if (line.id > seen) push(line)
      return tail.follow((line) => line.model === input.model && push(line))
    }, signal)
    for await (const line of lines) yield tracked(String(line.id), line)
  }),
})
