'use client'
import { useQuery } from '@tanstack/react-query'
import { Command } from 'cmdk'
import { Boxes, FlaskConical, Moon, Sun } from 'lucide-react'
import { useTheme } from 'next-themes'
import { useRouter } from 'next/navigation'
import { useState, type ReactNode } from 'react'
import { useTRPC } from '../../api/client.ts'
import { isAllowed, useSession } from '../../api/session.tsx'
import { StateMark } from '../../ui/state.tsx'
import { PLACES } from './places.ts'

const SHOWN_MODELS = 50
const GROUP =
  '[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:py-1.5 [&_[cmdk-group-heading]]:text-2xs [&_[cmdk-group-heading]]:font-medium [&_[cmdk-group-heading]]:text-mute'

/** Ctrl+K. Loaded when it is first asked for. */
export function Palette({ open, onOpenChange }: { open: boolean; onOpenChange: (open: boolean) => void }) {
  const [query, setQuery] = useState('')
  const router = useRouter()
  const run = (action: () => void) => () => {
    onOpenChange(false)
    setQuery('')
    action()
  }
  const go = (href: string) => run(() => router.push(href))
  return (
    <Command.Dialog
      open={open}
      onOpenChange={onOpenChange}
      label="Jump to"
      overlayClassName="fixed inset-0 z-40 bg-black/40"
      contentClassName="fixed top-[14vh] left-1/2 z-50 w-[min(36rem,calc(100vw-1.5rem))] -translate-x-1/2 overflow-hidden rounded-lg border border-line bg-raised shadow-float animate-in fade-in-0 zoom-in-98"
    >
      <Command.Input
        value={query}
        onValueChange={setQuery}
        placeholder="Jump to a model, a page, an action…"
        className="h-11 w-full border-b bg-transparent px-4 text-sm outline-none placeholder:text-mute"
      />
      <Command.List className="max-h-[50vh] overflow-y-auto p-1.5">
        <Command.Empty className="px-3 py-8 text-center text-mute">Nothing is called that.</Command.Empty>
        <Models query={query} go={go} />
        <Pages go={go} />
        <Themes run={run} />
      </Command.List>
    </Command.Dialog>
  )
}

function Item({ children, value, onSelect }: { children: ReactNode; value: string; onSelect: () => void }) {
  return (
    <Command.Item
      value={value}
      onSelect={onSelect}
      className="flex h-9 cursor-pointer items-center gap-2.5 rounded-md px-2 data-[selected=true]:bg-hover [&>svg]:size-4 [&>svg]:text-mute"
    >
      {children}
    </Command.Item>
  )
}

function Models({ query, go }: { query: string; go: (href: string) => () => void }) {
  const trpc = useTRPC()
  const { data = [] } = useQuery(trpc.models.list.queryOptions())
  const wanted = query.trim().toLowerCase()
  const found = data
    .filter((model) => model.name.toLowerCase().includes(wanted))
    .slice(0, wanted === '' ? 6 : SHOWN_MODELS)
  return (
    <Command.Group heading="Models" className={GROUP}>
      {found.map((model) => (
        <Item key={model.name} value={`model ${model.name}`} onSelect={go(`/models/${encodeURIComponent(model.name)}`)}>
          <Boxes aria-hidden />
          <span className="min-w-0 flex-1 truncate">{model.name}</span>
          <StateMark state={model.state} reason={model.reason} className="text-xs" />
        </Item>
      ))}
      {wanted !== '' &&
        found.slice(0, 5).map((model) => (
          <Item
            key={`try ${model.name}`}
            value={`try ${model.name} playground`}
            onSelect={go(`/playground/${encodeURIComponent(model.name)}`)}
          >
            <FlaskConical aria-hidden />
            <span className="truncate">Try {model.name} in the playground</span>
          </Item>
        ))}
    </Command.Group>
  )
}

function Pages({ go }: { go: (href: string) => () => void }) {
  const { user } = useSession()
  return (
    <Command.Group heading="Pages" className={GROUP}>
      {PLACES.filter((place) => place.role === undefined || isAllowed(user.role, place.role)).map(
        ({ href, label, icon: Icon }) => (
          <Item key={href} value={`page ${label}`} onSelect={go(href)}>
            <Icon aria-hidden /> {label}
          </Item>
        ),
      )}
    </Command.Group>
  )
}

function Themes({ run }: { run: (action: () => void) => () => void }) {
  const { resolvedTheme, setTheme } = useTheme()
  const dark = resolvedTheme === 'dark'
  const Icon = dark ? Sun : Moon
  return (
    <Command.Group heading="Actions" className={GROUP}>
      <Item value="theme light dark" onSelect={run(() => setTheme(dark ? 'light' : 'dark'))}>
        <Icon aria-hidden /> Switch to {dark ? 'light' : 'dark'}
      </Item>
    </Command.Group>
  )
}
