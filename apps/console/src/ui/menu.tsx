'use client'
import dynamic from 'next/dynamic'
import { cloneElement, lazy, Suspense, useState, type ReactElement, type ReactNode } from 'react'
import type { MenuItemProps, MenuProps } from './menu-parts.tsx'

const loadParts = () => import('./menu-parts.tsx')
const OpenMenu = lazy(() => loadParts().then((parts) => ({ default: parts.OpenMenu })))

type TriggerProps = Record<'onClick' | 'onPointerEnter' | 'onFocus' | 'aria-haspopup' | 'aria-expanded', unknown>

/** A button with a menu. The menu's own code is fetched when the pointer or the focus comes near. */
export function Menu(props: MenuProps) {
  const [wanted, setWanted] = useState(false)
  const near = () => void loadParts()
  const closed = cloneElement(props.trigger as ReactElement<TriggerProps>, {
    'aria-haspopup': 'menu',
    'aria-expanded': false,
    onPointerEnter: near,
    onFocus: near,
    onClick: () => setWanted(true),
  })
  if (!wanted) return closed
  return (
    <Suspense fallback={closed}>
      <OpenMenu {...props} />
    </Suspense>
  )
}

export const MenuItem = dynamic<MenuItemProps>(() => loadParts().then((parts) => parts.MenuItem))
export const MenuRule = dynamic(() => loadParts().then((parts) => parts.MenuRule))
export const MenuNote = dynamic<{ children: ReactNode }>(() => loadParts().then((parts) => parts.MenuNote))
