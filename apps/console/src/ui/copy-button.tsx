'use client'
import { Check, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Button } from './button.tsx'
import { copyText } from './copy-text.ts'

/** Copies a text and says so for a moment. */
export function CopyButton({
  text,
  label = 'Copy',
  named = false,
}: {
  text: string | (() => string)
  label?: string
  named?: boolean
}) {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return undefined
    const timer = setTimeout(() => setCopied(false), 1500)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = () => {
    void copyText(typeof text === 'string' ? text : text()).then(setCopied)
  }
  return (
    <Button
      tone="quiet"
      size={named ? 'small' : 'tiny'}
      aria-label={copied ? 'Copied' : label}
      title={label}
      onClick={copy}
    >
      {copied ? <Check className="text-good" /> : <Copy />}
      {named && (copied ? 'Copied' : label)}
    </Button>
  )
}
