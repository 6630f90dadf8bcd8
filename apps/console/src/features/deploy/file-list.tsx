import type { FileRow } from '@conch/server/schemas'
import { Card, CardHead } from '../../ui/card.tsx'
import { formatBytes, formatCount } from '../../ui/format.ts'

const SHOWN = 200

export function FileList({ files }: { files: readonly FileRow[] }) {
  const total = files.reduce((sum, file) => sum + file.size, 0)
  return (
    <Card>
      <CardHead title="Files" note={`${formatCount(files.length)} · ${formatBytes(total)}`} />
      <ul className="max-h-64 divide-y overflow-y-auto" tabIndex={0} aria-label="Files">
        {files.slice(0, SHOWN).map((file) => (
          <li key={file.path} className="flex items-center gap-3 px-3 py-1.5">
            <span className="min-w-0 flex-1 font-mono text-xs break-all">{file.path}</span>
            <span className="text-soft tabular-nums">{formatBytes(file.size)}</span>
          </li>
        ))}
        {files.length > SHOWN && (
          <li className="px-3 py-1.5 text-mute">and {formatCount(files.length - SHOWN)} more</li>
        )}
      </ul>
    </Card>
  )
}
