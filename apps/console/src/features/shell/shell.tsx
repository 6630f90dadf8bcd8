'use client'
import { Menu as MenuIcon } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useState, type ReactNode } from 'react'
import { Button } from '../../ui/button.tsx'
import { Sheet } from '../../ui/lazy-dialog.tsx'
import { Logo } from '../../ui/logo.tsx'
import { Toaster } from '../../ui/toaster.tsx'
import { ConnectionBanner } from './banner.tsx'
import { Gate } from './gate.tsx'
import { Sidebar } from './sidebar.tsx'
import { useKeys } from './use-keys.ts'
import { useLifecycle } from './use-lifecycle.ts'

const Palette = dynamic(() => import('./palette.tsx').then((module) => module.Palette), { ssr: false })
const ShortcutsDialog = dynamic(() => import('./shortcuts-dialog.tsx').then((module) => module.ShortcutsDialog), {
  ssr: false,
})

/** The frame around every screen of a signed-in person. */
export function Shell({ children }: { children: ReactNode }) {
  return (
    <>
      <Gate>
        <Frame>{children}</Frame>
      </Gate>
      <Toaster />
    </>
  )
}

function Frame({ children }: { children: ReactNode }) {
  const [palette, setPalette] = useState<boolean>()
  const [shortcuts, setShortcuts] = useState<boolean>()
  const [sheet, setSheet] = useState(false)
  const onPalette = () => setPalette(true)
  const onShortcuts = () => setShortcuts(true)
  useKeys({ onPalette, onShortcuts })
  useLifecycle()
  return (
    <div className="flex h-dvh overflow-hidden">
      <a
        href="#main"
        className="sr-only z-50 rounded-md bg-accent-fill px-3 py-2 text-white focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
      >
        Skip to the content
      </a>
      <aside className="w-52 shrink-0 border-r bg-panel max-md:hidden">
        <Sidebar onPalette={onPalette} onShortcuts={onShortcuts} />
      </aside>
      <div className="flex min-w-0 flex-1 flex-col">
        <TopBar onMenu={() => setSheet(true)} />
        <ConnectionBanner />
        <main id="main" tabIndex={-1} className="min-h-0 flex-1 overflow-y-auto outline-none">
          {children}
        </main>
      </div>
      <Sheet open={sheet} onOpenChange={setSheet} title="Navigation">
        <Sidebar onPalette={onPalette} onShortcuts={onShortcuts} onNavigate={() => setSheet(false)} />
      </Sheet>
      {palette !== undefined && <Palette open={palette} onOpenChange={setPalette} />}
      {shortcuts !== undefined && <ShortcutsDialog open={shortcuts} onOpenChange={setShortcuts} />}
    </div>
  )
}

function TopBar({ onMenu }: { onMenu: () => void }) {
  return (
    <div className="flex h-11 shrink-0 items-center gap-2 border-b bg-panel px-2 md:hidden">
      <Button tone="quiet" size="icon" aria-label="Open the navigation" onClick={onMenu}>
        <MenuIcon />
      </Button>
      <Logo className="size-5" />
      <span className="font-semibold tracking-tight">Conch</span>
    </div>
  )
}
