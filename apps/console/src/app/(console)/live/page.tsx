import type { Metadata } from 'next'
import { LiveScreen } from '../../../features/live/live-screen.tsx'

export const metadata: Metadata = { title: 'Live' }

export default function Page() {
  return <LiveScreen />
}
