import type { Role } from '@conch/server/schemas'
import { Activity, Boxes, FlaskConical, ScrollText, Terminal, UploadCloud, Users, type LucideIcon } from 'lucide-react'

export interface Place {
  readonly href: string
  readonly label: string
  readonly icon: LucideIcon
  /** Pressed after `g`. */
  readonly letter: string
  readonly role?: Role
}

/** Where one can go, in the order of the sidebar. */
export const PLACES: readonly Place[] = [
  { href: '/models', label: 'Models', icon: Boxes, letter: 'm' },
  { href: '/deploy', label: 'Deploy', icon: UploadCloud, letter: 'd' },
  { href: '/playground', label: 'Playground', icon: FlaskConical, letter: 'p' },
  { href: '/live', label: 'Live', icon: Activity, letter: 'l' },
  { href: '/log', label: 'Log', icon: Terminal, letter: 'o' },
  { href: '/audit', label: 'Audit', icon: ScrollText, letter: 'a' },
  { href: '/users', label: 'Users', icon: Users, letter: 'u', role: 'admin' },
]
