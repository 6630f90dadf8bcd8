import type { Metadata } from 'next'
import { ChooseScreen } from '../../../features/playground/choose-screen.tsx'

export const metadata: Metadata = { title: 'Playground' }

export default function Page() {
  return <ChooseScreen />
}
