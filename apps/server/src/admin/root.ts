import { accountRouter } from './account/router.ts'
import { auditRouter } from './audit/router.ts'
import { configRouter } from './config/router.ts'
import { deployRouter } from './deploy/router.ts'
import { liveRouter } from './live/router.ts'
import { logRouter } from './log/router.ts'
import { modelsRouter } from './models/router.ts'
import { playgroundRouter } from './playground/router.ts'
import { requestsRouter } from './requests/router.ts'
import { rolloutRouter } from './rollout/router.ts'
import { router } from './trpc.ts'

export const appRouter = router({
  account: accountRouter,
  audit: auditRouter,
  config: configRouter,
  deploy: deployRouter,
  live: liveRouter,
  log: logRouter,
  models: modelsRouter,
  playground: playgroundRouter,
  requests: requestsRouter,
  rollout: rolloutRouter,
})

/** All that the console knows of the server. */
export type AppRouter = typeof appRouter
