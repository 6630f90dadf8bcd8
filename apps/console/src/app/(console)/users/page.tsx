import type { Metadata } from 'next'
import { UsersScreen } from '../../../features/account/users-screen.tsx'

export const metadata: Metadata = { title: 'Users' }

export default function Page() {
  return <UsersScreen />
}
