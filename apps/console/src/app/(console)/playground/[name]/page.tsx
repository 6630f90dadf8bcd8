import type { Metadata } from 'next'
import { PlaygroundScreen } from '../../../../features/playground/playground-screen.tsx'

export const metadata: Metadata = { title: 'Playground' }
export const dynamicParams = false

/** The server maps every name onto this placeholder's files. */
export function generateStaticParams() {
  return [{ name: '_' }]
}

export default function Page() {
  return <PlaygroundScreen />
}
