'use client'
import { useRouter } from 'next/navigation'
import { useEffect } from 'react'

/** The start page is the list of models. */
export function ToModels() {
  const router = useRouter()
  useEffect(() => router.replace('/models'), [router])
  return null
}
