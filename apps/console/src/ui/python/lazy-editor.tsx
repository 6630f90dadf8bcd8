'use client'
import dynamic from 'next/dynamic'
import { Skeleton } from '../card.tsx'

/** The editor comes with the first source that is looked at, not with the page. */
export const LazyPythonEditor = dynamic(() => import('./python-editor.tsx').then((module) => module.PythonEditor), {
  ssr: false,
  loading: () => <Skeleton className="m-2 h-40" />,
})
