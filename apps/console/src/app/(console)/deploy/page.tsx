import type { Metadata } from 'next'
import { DeployScreen } from '../../../features/deploy/deploy-screen.tsx'

export const metadata: Metadata = { title: 'Deploy' }

export default function Page() {
  return <DeployScreen />
}
