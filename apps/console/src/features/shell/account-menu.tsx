'use client'
import { useMutation } from '@tanstack/react-query'
import { Check, ChevronsUpDown, Keyboard, KeyRound, LogOut, Monitor, Moon, Sun } from 'lucide-react'
import { useTheme } from 'next-themes'
import Link from 'next/link'
import { useTRPC } from '../../api/client.ts'
import { useSession } from '../../api/session.tsx'
import { Menu, MenuItem, MenuNote, MenuRule } from '../../ui/menu.tsx'

const THEMES = [
  { value: 'light', label: 'Light', icon: Sun },
  { value: 'dark', label: 'Dark', icon: Moon },
  { value: 'system', label: 'As the system', icon: Monitor },
] as const

function AccountButton(props: React.ComponentProps<'button'>) {
  const { user } = useSession()
  return (
    <button
      type="button"
      {...props}
      className="flex h-10 w-full items-center gap-2 rounded-md px-2 text-left hover:bg-hover"
    >
      <span
        aria-hidden
        className="flex size-6 shrink-0 items-center justify-center rounded-full bg-accent-wash text-xs font-semibold text-accent uppercase"
      >
        {user.name.slice(0, 1)}
      </span>
      <span className="min-w-0 flex-1">
        <span className="sr-only">Account of </span>
        <span className="block truncate leading-tight font-medium">{user.name}</span>
        <span className="block text-2xs leading-tight text-mute">{user.role}</span>
      </span>
      <ChevronsUpDown className="size-3.5 text-mute" aria-hidden />
    </button>
  )
}

export function AccountMenu({ onShortcuts }: { onShortcuts: () => void }) {
  const trpc = useTRPC()
  const { theme, setTheme } = useTheme()
  const logout = useMutation(
    // A full load: nothing of this person stays in memory.
    trpc.account.logout.mutationOptions({ onSettled: () => window.location.assign('/login') }),
  )
  return (
    <Menu side="top" align="start" trigger={<AccountButton />}>
      <MenuNote>Appearance</MenuNote>
      {THEMES.map(({ value, label, icon: Icon }) => (
        <MenuItem key={value} onSelect={() => setTheme(value)}>
          <Icon aria-hidden /> <span className="flex-1">{label}</span>
          {theme === value && <Check aria-label="chosen" />}
        </MenuItem>
      ))}
      <MenuRule />
      <MenuItem onSelect={onShortcuts}>
        <Keyboard aria-hidden /> Keyboard shortcuts
      </MenuItem>
      <MenuItem asChild>
        <Link href="/account">
          <KeyRound aria-hidden /> Account
        </Link>
      </MenuItem>
      <MenuRule />
      <MenuItem onSelect={() => logout.mutate()}>
        <LogOut aria-hidden /> Sign out
      </MenuItem>
    </Menu>
  )
}
