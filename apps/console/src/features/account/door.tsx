'use client'
import type { ReactNode } from 'react'
import { Logo } from '../../ui/logo.tsx'
import { Toaster } from '../../ui/toaster.tsx'

/** The frame of the pages before sign-in. */
export function Door({ title, note, children }: { title: string; note: ReactNode; children: ReactNode }) {
  return (
    <>
      <main className="flex min-h-dvh items-start justify-center px-4 py-[12vh]">
        <div className="w-full max-w-sm">
          <div className="mb-6 flex items-center gap-2.5">
            <Logo className="size-9" />
            <span className="text-lg font-semibold tracking-tight">Conch</span>
          </div>
          <h1 className="text-xl font-semibold tracking-tight">{title}</h1>
          <div className="mt-1 mb-6 text-soft">{note}</div>
          {children}
        </div>
      </main>
      <Toaster />
    </>
  )
}
