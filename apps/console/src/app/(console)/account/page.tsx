import type { Metadata } from 'next'
import { AccountScreen } from '../../../features/account/account-screen.tsx'

export const metadata: Metadata = { title: 'Account' }

export default function Page() {
  return <AccountScreen />
}
