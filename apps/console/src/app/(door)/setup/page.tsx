import type { Metadata } from 'next'
import { SetupScreen } from '../../../features/account/setup-screen.tsx'

export const metadata: Metadata = { title: 'Set up' }

export default function Page() {
  return <SetupScreen />
}
