'use client'
import { Download } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useSession } from '../../api/session.tsx'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { saveFile } from '../../ui/save-file.ts'
import { Segments } from '../../ui/tabs.tsx'
import { writeSnippet, type SnippetKind } from './snippets.ts'

const KINDS: readonly { readonly value: SnippetKind; readonly label: string }[] = [
  { value: 'curl', label: 'curl' },
  { value: 'python', label: 'Python' },
  { value: 'tritonclient', label: 'tritonclient' },
  { value: 'typescript', label: 'TypeScript' },
]

interface CodeProps {
  readonly model: string
  readonly version: string
  readonly body: string
}

/** The same request from a program. */
export function CodeTab({ model, version, body }: CodeProps) {
  const { server } = useSession()
  const [kind, setKind] = useState<SnippetKind>('curl')
  const { code, file } = useMemo(
    () => writeSnippet(kind, { serverUrl: server.httpUrl, model, version, body }),
    [kind, server.httpUrl, model, version, body],
  )
  return (
    <div className="space-y-2">
      <div className="flex flex-wrap items-center gap-2">
        <Segments label="Language" value={kind} onChange={setKind} options={KINDS} />
        <div className="ml-auto flex items-center gap-1">
          {file !== null && (
            <Button size="small" onClick={() => saveFile(file, body)}>
              <Download aria-hidden /> {file}
            </Button>
          )}
          <CopyButton text={code} label="Copy the code" named />
        </div>
      </div>
      <pre
        tabIndex={0}
        aria-label="Code"
        data-testid="snippet"
        className="max-h-[32rem] overflow-auto rounded-md border border-line bg-canvas p-3 font-mono text-xs leading-relaxed"
      >
        {code}
      </pre>
    </div>
  )
}
