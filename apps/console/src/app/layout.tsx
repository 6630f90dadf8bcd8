import type { Metadata, Viewport } from 'next'
import type { ReactNode } from 'react'
import { ApiProvider } from '../api/provider.tsx'
import './globals.css'

export const metadata: Metadata = {
  title: { default: 'Conch', template: '%s · Conch' },
  description: 'Models: put one in, ask it, watch it',
}
export const viewport: Viewport = {
  width: 'device-width',
  initialScale: 1,
  themeColor: [
    { media: '(prefers-color-scheme: light)', color: '#f6f7f9' },
    { media: '(prefers-color-scheme: dark)', color: '#0b0e12' },
  ],
}

export default function RootLayout({ children }: { children: ReactNode }) {
  return (
    <html lang="en" suppressHydrationWarning>
      <body>
        <ApiProvider>{children}</ApiProvider>
      </body>
    </html>
  )
}
