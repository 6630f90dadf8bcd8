'use client'
import type { FileRow, ModelDetails } from '@conch/server/schemas'
import { useQuery } from '@tanstack/react-query'
import { Eye, FolderOpen } from 'lucide-react'
import { useState } from 'react'
import { useTRPC } from '../../api/client.ts'
import { readFailure } from '../../api/failure.ts'
import { Button } from '../../ui/button.tsx'
import { Card, CardHead, Skeleton } from '../../ui/card.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { formatBytes } from '../../ui/format.ts'
import { Empty, Notice } from '../../ui/message.tsx'
import { When } from '../../ui/when.tsx'

/** The server shows text up to 1 MiB; more than this nobody reads in a dialog. */
const LONGEST_SHOWN = 1_048_576
const TEXT = /\.(txt|json|pbtxt|md|csv|labels|ya?ml|py|toml|lock)$/i

export function FilesTab({ model }: { model: ModelDetails }) {
  const [open, setOpen] = useState<string | null>(null)
  return (
    <Card className="overflow-x-auto">
      <CardHead title="Files" note={`in ${model.repository}`} />
      {model.files.length === 0 ? (
        <Empty icon={FolderOpen} title="No files">
          The model’s folder is empty.
        </Empty>
      ) : (
        <table className="w-full">
          <thead className="text-left text-xs text-mute">
            <tr className="h-7 border-b [&>th]:px-3 [&>th]:font-medium [&>th]:whitespace-nowrap">
              <th className="w-full">Path</th>
              <th className="text-right">Size</th>
              <th className="max-md:hidden">Changed</th>
              <th className="max-md:hidden">SHA-256</th>
            </tr>
          </thead>
          <tbody className="divide-y">
            {model.files.map((file) => (
              <FileLine key={file.path} file={file} onOpen={() => setOpen(file.path)} />
            ))}
          </tbody>
        </table>
      )}
      {open !== null && <FileDialog model={model.name} path={open} onClose={() => setOpen(null)} />}
    </Card>
  )
}

function FileLine({ file, onOpen }: { file: FileRow; onOpen: () => void }) {
  const readable = TEXT.test(file.path) && file.size <= LONGEST_SHOWN
  return (
    <tr className="h-9 [&>td]:px-3 [&>td]:whitespace-nowrap">
      <td className="font-mono text-xs !whitespace-normal break-all">
        {file.path}
        {readable && (
          <Button tone="quiet" size="tiny" className="ml-1" aria-label={`Show ${file.path}`} onClick={onOpen}>
            <Eye />
          </Button>
        )}
      </td>
      <td className="text-right tabular-nums">{formatBytes(file.size)}</td>
      <td className="text-soft max-md:hidden">
        <When at={file.modified} />
      </td>
      <td className="font-mono text-xs text-mute max-md:hidden">
        {file.sha256 === null ? (
          '–'
        ) : (
          <span className="flex items-center gap-1" title={file.sha256}>
            {file.sha256.slice(0, 10)}… <CopyButton text={file.sha256} label="Copy the hash" />
          </span>
        )}
      </td>
    </tr>
  )
}

function FileDialog({ model, path, onClose }: { model: string; path: string; onClose: () => void }) {
  const trpc = useTRPC()
  const { data, error } = useQuery(trpc.models.file.queryOptions({ model, path }))
  return (
    <Dialog open onOpenChange={onClose} title={path} className="w-[min(52rem,calc(100vw-1.5rem))]">
      {error !== null ? (
        <Notice tone="bad">{readFailure(error).message}</Notice>
      ) : data === undefined ? (
        <Skeleton className="h-40" />
      ) : (
        <pre
          tabIndex={0}
          className="max-h-[60vh] overflow-auto rounded-md bg-hover p-3 font-mono text-xs whitespace-pre-wrap"
        >
          {data}
        </pre>
      )}
    </Dialog>
  )
}
