'use client'
import dynamic from 'next/dynamic'
import { Skeleton } from '../card.tsx'

/** The editor comes with the first config that is looked at, not with the page. */
export const LazyEditor = dynamic(() => import('./pbtxt-editor.tsx').then((module) => module.PbtxtEditor), {
  ssr: false,
  loading: () => <Skeleton className="m-2 h-40" />,
})
