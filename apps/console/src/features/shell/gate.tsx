'use client'
import { useQuery } from '@tanstack/react-query'
import { ServerOff } from 'lucide-react'
import { usePathname, useRouter } from 'next/navigation'
import { useEffect, type ReactNode } from 'react'
import { useTRPC } from '../../api/client.ts'
import { readFailure } from '../../api/failure.ts'
import { reachServer, SessionProvider } from '../../api/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Skeleton } from '../../ui/card.tsx'
import { Empty } from '../../ui/message.tsx'

/** Lets signed-in people through; leads the others to the setup or the sign-in page and back. */
export function Gate({ children }: { children: ReactNode }) {
  const trpc = useTRPC()
  const router = useRouter()
  const path = usePathname()
  const { data, error, refetch } = useQuery(trpc.account.state.queryOptions(undefined, { staleTime: 30_000 }))
  const target = data === undefined ? null : data.setupNeeded ? '/setup' : data.user === null ? '/login' : null

  useEffect(() => {
    if (target === null) return
    const next = path === '/' ? '' : `?next=${encodeURIComponent(path + window.location.search)}`
    router.replace(target === '/login' ? target + next : target)
  }, [target, path, router])

  if (data?.user && data.server) {
    const server = reachServer(data.server, window.location.hostname)
    return <SessionProvider session={{ user: data.user, server }}>{children}</SessionProvider>
  }
  if (error !== null && data === undefined) {
    return (
      <Empty
        icon={ServerOff}
        title="The console cannot reach its server"
        className="min-h-dvh justify-center"
        action={<Button onClick={() => void refetch()}>Try again</Button>}
      >
        {readFailure(error).message} If it was stopped, start it again with <code className="font-mono">npm start</code>{' '}
        or <code className="font-mono">bin/conch up</code>.
      </Empty>
    )
  }
  return <GateSkeleton />
}

function GateSkeleton() {
  return (
    <div className="flex min-h-dvh" aria-busy aria-label="Loading">
      <div className="w-52 space-y-3 border-r bg-panel p-3 max-md:hidden">
        <Skeleton className="h-8" />
        {Array.from({ length: 6 }, (_, index) => (
          <Skeleton key={index} className="h-6" />
        ))}
      </div>
      <div className="flex-1 space-y-3 p-5">
        <Skeleton className="h-7 w-40" />
        <Skeleton className="h-64" />
      </div>
    </div>
  )
}
