'use client'
import { Search } from 'lucide-react'
import Link from 'next/link'
import { usePathname } from 'next/navigation'
import { useConnection } from '../../api/connection.ts'
import { isAllowed, useSession } from '../../api/session.tsx'
import { Kbd } from '../../ui/card.tsx'
import { cn } from '../../ui/cn.ts'
import { Logo } from '../../ui/logo.tsx'
import { AccountMenu } from './account-menu.tsx'
import { PLACES } from './places.ts'

interface SidebarProps {
  readonly onPalette: () => void
  readonly onShortcuts: () => void
  readonly onNavigate?: () => void
}

export function Sidebar({ onPalette, onShortcuts, onNavigate }: SidebarProps) {
  return (
    <div className="flex h-full flex-col gap-2 p-2">
      <Brand />
      <button
        type="button"
        onClick={onPalette}
        className="flex h-8 items-center gap-2 rounded-md border border-line px-2 text-mute hover:bg-hover hover:text-ink"
      >
        <Search className="size-3.5" aria-hidden />
        <span className="flex-1 text-left">Jump to…</span>
        <Kbd>Ctrl K</Kbd>
      </button>
      <Places {...(onNavigate === undefined ? {} : { onNavigate })} />
      <div className="mt-auto border-t pt-2">
        <ServerState />
        <AccountMenu onShortcuts={onShortcuts} />
      </div>
    </div>
  )
}

function Brand() {
  const { server } = useSession()
  return (
    <Link href="/models" className="flex h-10 items-center gap-2 rounded-md px-1.5">
      <Logo className="size-6 shrink-0" />
      <span className="min-w-0">
        <span className="block leading-tight font-semibold tracking-tight">Conch</span>
        <span className="block truncate text-2xs leading-tight text-mute">
          {server.name} {server.version}
        </span>
      </span>
    </Link>
  )
}

function Places({ onNavigate }: { onNavigate?: () => void }) {
  const path = usePathname()
  const { user } = useSession()
  const places = PLACES.filter((place) => place.role === undefined || isAllowed(user.role, place.role))
  return (
    <nav aria-label="Main" className="flex flex-col gap-px">
      {places.map(({ href, label, icon: Icon, letter }) => {
        const active = path === href || path.startsWith(`${href}/`)
        return (
          <Link
            key={href}
            href={href}
            onClick={() => onNavigate?.()}
            aria-current={active ? 'page' : undefined}
            title={`${label} (g ${letter})`}
            className={cn(
              'flex h-8 items-center gap-2.5 rounded-md px-2 font-medium text-soft hover:bg-hover hover:text-ink max-md:h-10',
              active && 'bg-hover text-ink [&_svg]:text-accent',
            )}
          >
            <Icon className="size-4 text-mute" aria-hidden />
            {label}
          </Link>
        )
      })}
    </nav>
  )
}

function ServerState() {
  const { state } = useConnection()
  const { server } = useSession()
  const online = state === 'online'
  return (
    <div className="flex items-center gap-2 px-2 pb-2 text-xs text-mute" title={`Models: ${server.httpUrl}`}>
      <span aria-hidden className={cn('size-2 shrink-0 rounded-full', online ? 'bg-good' : 'animate-pulse bg-warn')} />
      <span className="truncate">
        {online ? `Live · ${new URL(server.httpUrl).host}` : state === 'lost' ? 'Reconnecting…' : 'Connecting…'}
      </span>
    </div>
  )
}
