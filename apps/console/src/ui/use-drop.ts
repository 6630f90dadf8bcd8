'use client'
import { useState, type DragEvent } from 'react'

interface DropZone {
  /** Something is being held over it. */
  readonly over: boolean
  /** For the element that things fall on. */
  readonly zone: {
    onDragOver(event: DragEvent): void
    onDragLeave(): void
    onDrop(event: DragEvent): void
  }
}

/** Makes an element take what is dropped on it. */
export function useDrop(take: (transfer: DataTransfer) => void): DropZone {
  const [over, setOver] = useState(false)
  return {
    over,
    zone: {
      onDragOver: (event) => {
        event.preventDefault()
        setOver(true)
      },
      onDragLeave: () => setOver(false),
      onDrop: (event) => {
        event.preventDefault()
        setOver(false)
        take(event.dataTransfer)
      },
    },
  }
}
