'use client'
import type { AppRouter } from '@conch/server/router'
import { QueryCache, QueryClient } from '@tanstack/react-query'
import { createTRPCClient, createWSClient, httpBatchLink, splitLink, wsLink } from '@trpc/client'
import { createTRPCContext } from '@trpc/tanstack-react-query'
import { reportConnection } from './connection.ts'
import { isSignedOut, isWorthRetrying } from './failure.ts'

export const { TRPCProvider, useTRPC, useTRPCClient } = createTRPCContext<AppRouter>()

/** A dead peer is noticed within this and one pong: the banner is up before five seconds have passed. */
const PING_MS = 2000
const PONG_MS = 1500
const RETRY_MS = [200, 500, 1000, 2000]

function openSocket(onReconnect: () => void) {
  let opened = false
  return createWSClient({
    url: () => new URL('/api/ws', window.location.href.replace(/^http/, 'ws')).href,
    lazy: { enabled: true, closeMs: 0 },
    retryDelayMs: (attempt) => RETRY_MS[attempt] ?? 2000,
    keepAlive: { enabled: true, intervalMs: PING_MS, pongTimeoutMs: PONG_MS },
    onOpen: () => {
      reportConnection('online')
      if (opened) onReconnect()
      opened = true
    },
    onError: () => reportConnection('lost'),
    onClose: () => reportConnection('lost'),
  })
}

function makeQueryClient(): QueryClient {
  const queryClient = new QueryClient({
    queryCache: new QueryCache({
      onError: (error) => {
        // The gate reads this query and leads to the sign-in page.
        if (isSignedOut(error)) void queryClient.invalidateQueries({ queryKey: [['account', 'state']] })
      },
    }),
    defaultOptions: {
      queries: {
        // The server is often this very machine: being without the Internet says nothing about it.
        networkMode: 'always',
        staleTime: 2000,
        refetchOnWindowFocus: true,
        retry: (count, error) => count < 2 && isWorthRetrying(error),
        retryDelay: 700,
      },
      mutations: { networkMode: 'always' },
    },
  })
  return queryClient
}

/** The one client of the console: batched HTTP for calls, a WebSocket for streams. */
export function makeApi() {
  const queryClient = makeQueryClient()
  const socket = openSocket(() => void queryClient.invalidateQueries())
  const client = createTRPCClient<AppRouter>({
    links: [
      splitLink({
        condition: (operation) => operation.type === 'subscription',
        true: wsLink<AppRouter>({ client: socket }),
        false: httpBatchLink<AppRouter>({ url: '/api/trpc', maxURLLength: 4000 }),
      }),
    ],
  })
  return { queryClient, client }
}
