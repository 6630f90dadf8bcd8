'use client'
import { QueryClientProvider } from '@tanstack/react-query'
import { ThemeProvider } from 'next-themes'
import { NuqsAdapter } from 'nuqs/adapters/next/app'
import { Suspense, useState, type ReactNode } from 'react'
import { makeApi, TRPCProvider } from './client.ts'

/** Everything below talks to the server through here. */
export function ApiProvider({ children }: { children: ReactNode }) {
  const [api] = useState(makeApi)
  return (
    <ThemeProvider attribute="class" defaultTheme="system" enableSystem disableTransitionOnChange>
      <QueryClientProvider client={api.queryClient}>
        <TRPCProvider trpcClient={api.client} queryClient={api.queryClient}>
          <Suspense>
            <NuqsAdapter>{children}</NuqsAdapter>
          </Suspense>
        </TRPCProvider>
      </QueryClientProvider>
    </ThemeProvider>
  )
}
