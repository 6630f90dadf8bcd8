import type { Metadata } from 'next'
import { ModelsScreen } from '../../../features/models/models-screen.tsx'

export const metadata: Metadata = { title: 'Models' }

export default function Page() {
  return <ModelsScreen />
}
