'use client'
import type { ComponentProps } from 'react'
import { Button } from './button.tsx'
import { Tip } from './tip.tsx'

/** A button that, when it may not be used, stays focusable and says why. */
export function Action({ why, onClick, ...rest }: ComponentProps<typeof Button> & { why?: string | null | undefined }) {
  if (!why) return <Button onClick={onClick} {...rest} />
  return (
    <Tip text={why}>
      <Button {...rest} aria-disabled="true" onClick={(event) => event.preventDefault()} type="button" />
    </Tip>
  )
}
