'use client'
import { Kbd } from '../../ui/card.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { PLACES } from './places.ts'

const OTHERS: readonly (readonly [readonly string[], string])[] = [
  [['Ctrl', 'K'], 'Jump to any model, page or action'],
  [['/'], 'Search in this page'],
  [['Ctrl', 'Enter'], 'Send the request (Playground)'],
  [['Ctrl', 'S'], 'Save the config (editor)'],
  [['F8'], 'Next problem (editor)'],
  [['Esc'], 'Close what is open'],
  [['?'], 'This list'],
]

export function ShortcutsDialog({ open, onOpenChange }: { open: boolean; onOpenChange: (open: boolean) => void }) {
  const jumps = PLACES.map((place) => [['g', place.letter], `Go to ${place.label}`] as const)
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title="Keyboard shortcuts">
      <dl className="grid grid-cols-[auto_1fr] items-center gap-x-4 gap-y-2 pb-2">
        {[...OTHERS, ...jumps].map(([keys, text]) => (
          <div key={text} className="contents">
            <dt className="flex justify-end gap-1">
              {keys.map((key) => (
                <Kbd key={key}>{key}</Kbd>
              ))}
            </dt>
            <dd className="text-soft">{text}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
