'use client'
import dynamic from 'next/dynamic'
import type { ComponentProps } from 'react'
import type * as dialogs from './dialog.tsx'

// Nobody sees a dialog on the first look: their code comes when the first one opens.
const LazyConfirm = dynamic<ComponentProps<typeof dialogs.Confirm>>(
  () => import('./dialog.tsx').then((module) => module.Confirm),
  { ssr: false },
)
const LazySheet = dynamic<ComponentProps<typeof dialogs.Sheet>>(
  () => import('./dialog.tsx').then((module) => module.Sheet),
  { ssr: false },
)

export function Confirm(props: ComponentProps<typeof dialogs.Confirm>) {
  return props.open ? <LazyConfirm {...props} /> : null
}

export function Sheet(props: ComponentProps<typeof dialogs.Sheet>) {
  return props.open ? <LazySheet {...props} /> : null
}
