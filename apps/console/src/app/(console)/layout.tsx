import type { ReactNode } from 'react'
import { Shell } from '../../features/shell/shell.tsx'

export default function ConsoleLayout({ children }: { children: ReactNode }) {
  return <Shell>{children}</Shell>
}
