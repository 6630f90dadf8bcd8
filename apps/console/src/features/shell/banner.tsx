'use client'
import { WifiOff } from 'lucide-react'
import { useConnection } from '../../api/connection.ts'
import { When } from '../../ui/when.tsx'

/** Shown while the server is out of reach; goes by itself. */
export function ConnectionBanner() {
  const { state, since } = useConnection()
  if (state !== 'lost') return null
  return (
    <div role="alert" className="flex shrink-0 items-center justify-center gap-2 bg-warn-wash px-3 py-1.5 text-warn">
      <WifiOff className="size-4 shrink-0" aria-hidden />
      <span>
        <b className="font-semibold">Connection lost.</b> Numbers are from <When at={since} />; trying again by itself.
      </span>
    </div>
  )
}
