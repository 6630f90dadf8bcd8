'use client'
import { useTheme } from 'next-themes'
import { Toaster as Sonner } from 'sonner'

export function Toaster() {
  const { resolvedTheme } = useTheme()
  return (
    <Sonner
      theme={resolvedTheme === 'dark' ? 'dark' : 'light'}
      position="bottom-right"
      closeButton
      toastOptions={{
        classNames: {
          toast: '!rounded-lg !border-line !bg-raised !text-ink !shadow-float !font-sans !text-[13px]',
          description: '!text-soft whitespace-pre-wrap break-words',
          actionButton: '!bg-accent-fill !text-white !h-7 !px-2.5',
          closeButton: '!bg-raised !text-soft !border-line',
        },
      }}
    />
  )
}
