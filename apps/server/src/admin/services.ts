import { monitorEventLoopDelay } from 'node:perf_hooks'
import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { ServerInfo } from './account/account.schema.ts'
import { followRollbacks } from './audit/follow-rollbacks.ts'
import type { Services } from './context.ts'
import { openDatabase } from './db.ts'
import type { AdminOptions } from './admin-options.ts'
import { CONCH_VERSION } from '../version.ts'
import { createLiveRing, type ProcessUse } from './live-ring.ts'
import { createLogTail, type LogTail } from './log-tail.ts'
import { createLoginLimiter } from './login-limiter.ts'
import { choosePython } from './python-program.ts'
import { openRepositories, type Repositories } from './repositories.ts'
import { createSessions } from './session.ts'
import { createSetup } from './setup.ts'
import { openStaging, type UploadStore } from './staging.ts'

const SWEEP_MS = 3_600_000

/** Opens everything the procedures stand on, and says how to close it. */
export async function openServices(
  options: AdminOptions,
  uploads: UploadStore & { sweep(): Promise<void> },
  loopback: boolean,
) {
  const { engine, log, serve } = options
  const dataDirectory = resolve(options.dataDirectory)
  await mkdir(dataDirectory, { recursive: true, mode: 0o700 })
  const db = await openDatabase(dataDirectory, (text) => log.write('error', text))
  const tail = createLogTail()
  const unfollow = followLog(options, tail)
  const unfollowRollbacks = followRollbacks(engine, db)
  const delay = monitorEventLoopDelay({ resolution: DELAY_MS })
  delay.enable()
  const live = createLiveRing({ samples: () => engine.liveSamples(), use: () => measureProcess(delay), now: Date.now })
  const repositories = await openRepositories(serve.repositories)
  await repositories.sweep()
  const services: Services = {
    engine,
    log: {
      write(level, text, about) {
        log.write(level, text, about)
        if (log.subscribe === undefined) tail.write({ level, text, about })
      },
    },
    tail,
    db,
    sessions: createSessions(db),
    logins: createLoginLimiter(),
    setup: createSetup(loopback, (token) => announceSetup(token, options, db)),
    live,
    repositories,
    staging: await openStaging(join(dataDirectory, 'staging'), uploads),
    server: describeServer(options, repositories),
    dataDirectory,
    configName: serve.modelConfigName ?? '',
    pollSeconds: serve.pollSeconds ?? 0,
    python: choosePython(serve.backendConfig),
  }
  const timers = [
    setInterval(() => live.tick(), 1000).unref(),
    setInterval(() => void uploads.sweep(), SWEEP_MS).unref(),
  ]
  live.tick()
  await uploads.sweep()
  return {
    services,
    async close() {
      for (const timer of timers) clearInterval(timer)
      delay.disable()
      unfollow()
      unfollowRollbacks()
      await db.close()
    },
  }
}

function describeServer({ serve, addresses }: AdminOptions, { roots }: Repositories): ServerInfo {
  return {
    name: serve.id ?? 'conch',
    version: CONCH_VERSION,
    httpUrl: showAddress(addresses.http),
    grpcUrl: addresses.grpc === undefined || addresses.grpc === '' ? null : addresses.grpc,
    metricsUrl: addresses.metrics === '' ? '' : `${showAddress(addresses.metrics)}/metrics`,
    repositories: roots.map(({ display }) => display),
    controlMode: serve.controlMode,
  }
}

/** Where nobody can go to "every address", this machine's own is meant. */
function showAddress(address: string): string {
  return address === '' ? '' : `http://${address.replace(/^(0\.0\.0\.0|\[?::\]?)(?=:\d+$)/, '127.0.0.1')}`
}

function followLog({ log }: AdminOptions, tail: LogTail): () => void {
  for (const line of log.tail?.(1000) ?? []) tail.write(line)
  return log.subscribe?.((line) => tail.write(line)) ?? (() => undefined)
}

/** The one time that a secret is printed: while there is no account and other machines can reach the console. */
function announceSetup(token: string, { log }: AdminOptions, db: Services['db']): void {
  void db.users.count().then((users) => {
    if (users > 0) return
    log.write(
      'warning',
      `console: no account yet, and other machines can reach it. Its first visitor must give this setup token: ${token}`,
    )
  })
}

/** The monitor's own timer; what exceeds it is delay. */
const DELAY_MS = 20

function measureProcess(delay: ReturnType<typeof monitorEventLoopDelay>): ProcessUse {
  const { user, system } = process.cpuUsage()
  const { rss, heapUsed } = process.memoryUsage()
  const p99 = delay.percentile(99) / 1e6
  delay.reset()
  return {
    cpuUs: user + system,
    rssBytes: rss,
    heapBytes: heapUsed,
    eventLoopP99Ms: Number.isFinite(p99) ? Math.max(0, p99 - DELAY_MS) : 0,
  }
}
