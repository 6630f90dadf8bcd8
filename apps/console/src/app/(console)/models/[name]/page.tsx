import type { Metadata } from 'next'
import { ModelScreen } from '../../../../features/models/model-screen.tsx'

export const metadata: Metadata = { title: 'Model' }
export const dynamicParams = false

/** The server maps every name onto this placeholder's files. */
export function generateStaticParams() {
  return [{ name: '_' }]
}

export default function Page() {
  return <ModelScreen />
}
