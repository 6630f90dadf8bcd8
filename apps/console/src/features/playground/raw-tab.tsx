'use client'
import { Download } from 'lucide-react'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { formatBytes } from '../../ui/format.ts'
import { saveFile } from '../../ui/save-file.ts'
import type { Entry } from './history.ts'

const LONGEST_SHOWN = 100_000

/** The answer as a client gets it over HTTP. */
export function RawTab({ entry }: { entry: Entry | null }) {
  if (entry === null) return <p className="py-8 text-center text-mute">Nothing asked yet.</p>
  const { response, error } = entry.result
  const text = response ?? (error === undefined ? '' : JSON.stringify({ error: error.message }, null, 2))
  if (text === '')
    return (
      <p className="py-8 text-center text-mute">
        The answer is too long to be shown as JSON; the values are under Answer.
      </p>
    )
  return (
    <div className="space-y-2">
      <div className="flex items-center gap-2 text-xs text-mute">
        <span className="mr-auto">{formatBytes(text.length)} of JSON</span>
        <CopyButton text={text} named />
        <Button size="small" tone="quiet" onClick={() => saveFile('response.json', text)}>
          <Download aria-hidden /> Save
        </Button>
      </div>
      <pre
        tabIndex={0}
        aria-label="Answer as JSON"
        className="max-h-[32rem] overflow-auto rounded-md border border-line bg-canvas p-3 font-mono text-xs break-words whitespace-pre-wrap"
      >
        {text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text}
      </pre>
    </div>
  )
}
