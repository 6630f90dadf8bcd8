import { Compass } from 'lucide-react'
import { ButtonLink } from '../ui/button.tsx'
import { Empty } from '../ui/message.tsx'

export default function NotFound() {
  return (
    <Empty
      icon={Compass}
      title="There is no page here"
      className="min-h-dvh justify-center"
      action={<ButtonLink href="/models">Go to Models</ButtonLink>}
    >
      The address may be mistyped, or the page has moved.
    </Empty>
  )
}
