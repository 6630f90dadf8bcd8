import { tracked } from '@trpc/server'
import { followEvents } from '../follow-events.ts'
import { resumeSchema } from '../resume.schema.ts'
import { router, viewerProcedure } from '../trpc.ts'
import { LIVE_SECONDS, liveHistorySchema, type LiveFrame } from './live.schema.ts'

export const liveRouter = router({
  history: viewerProcedure.input(liveHistorySchema).query(({ ctx, input }) => ctx.services.live.history(input.seconds)),
  /** After a lost connection it begins with the frames that were missed, as far as they are remembered. */
  samples: viewerProcedure.input(resumeSchema).subscription(async function* ({ ctx, input, signal }) {
    const { live } = ctx.services
    const seen = Number(input?.lastEventId ?? Number.POSITIVE_INFINITY)
    const frames = followEvents<LiveFrame>((push) => {
      for (const frame of live.history(LIVE_SECONDS)) if (frame.at > seen) push(frame)
      return live.follow(push)
    }, signal)
    for await (const frame of frames) yield tracked(String(frame.at), frame)
  }),
})
