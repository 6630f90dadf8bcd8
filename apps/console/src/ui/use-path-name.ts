'use client'
import { usePathname } from 'next/navigation'

/**
 * The name in `/models/<name>` or `/playground/<name>`. A static export knows only the placeholder `_`,
 * so the address is read instead of the route's parameters.
 */
export function usePathName(): string {
  return readPathName(usePathname())
}

export function readPathName(path: string): string {
  const part = path.split('/')[2] ?? ''
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
