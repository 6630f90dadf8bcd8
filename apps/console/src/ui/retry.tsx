'use client'
import { RotateCw } from 'lucide-react'
import { Button } from './button.tsx'
import { Notice } from './message.tsx'

interface RetryProps {
  readonly what: string
  readonly message: string
  readonly onRetry: () => void
}

/** A part of the screen that could not be filled. */
export function Retry({ what, message, onRetry }: RetryProps) {
  return (
    <Notice
      tone="bad"
      title={what}
      action={
        <Button size="small" onClick={onRetry}>
          <RotateCw /> Try again
        </Button>
      }
    >
      {message}
    </Notice>
  )
}
