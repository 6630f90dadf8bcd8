'use client'
import { FileBox, FileCode2, FolderUp, PencilLine } from 'lucide-react'
import { useEffect, useRef, type InputHTMLAttributes } from 'react'
import { Button } from '../../ui/button.tsx'
import { cn } from '../../ui/cn.ts'
import { Notice } from '../../ui/message.tsx'
import { useDrop } from '../../ui/use-drop.ts'
import { readDrop, readInput, type Picked } from './pick-files.ts'

interface DropStepProps {
  /** Why the last choice was not taken. */
  readonly refusal: string | null
  readonly onPick: (files: readonly Picked[]) => void
  /** Begins a model in Python instead. */
  readonly onWrite: () => void
}

export function DropStep({ refusal, onPick, onWrite }: DropStepProps) {
  const { over, zone } = useDrop((transfer) => void readDrop(transfer).then(onPick))
  useNoStrayDrops()
  return (
    <div className="space-y-3">
      {refusal !== null && (
        <Notice tone="bad" title="This cannot be deployed">
          {refusal}
        </Notice>
      )}
      <div
        data-testid="drop"
        {...zone}
        className={cn(
          'flex flex-col items-center rounded-lg border-2 border-dashed border-edge bg-panel px-6 py-16 text-center transition-colors',
          over && 'border-accent bg-accent-wash',
        )}
      >
        <FileBox className="mb-3 size-9 text-mute" strokeWidth={1.4} aria-hidden />
        <h2 className="text-[15px] font-semibold">Drop a model here</h2>
        <p className="mt-1 max-w-md text-soft">
          An <b className="font-medium">.onnx</b> file, a <b className="font-medium">.zip</b>, or a model’s folder with
          its config.pbtxt, labels and samples.
        </p>
        <Pickers onPick={onPick} />
        <p className="mt-5 max-w-md text-xs text-mute">
          Nothing is served before you have seen its signature and the checks. Versions that exist are never
          overwritten.
        </p>
      </div>
      <div className="flex flex-wrap items-center gap-3 rounded-lg border border-line bg-panel p-4 shadow-card">
        <FileCode2 className="size-6 shrink-0 text-mute" strokeWidth={1.4} aria-hidden />
        <div className="min-w-0 flex-1 basis-56">
          <h2 className="text-[13px] font-semibold">Or write one</h2>
          <p className="text-soft">
            Pre- and post-processing, other frameworks, calls to other models: a class in Python.
          </p>
        </div>
        <Button onClick={onWrite}>
          <PencilLine aria-hidden /> Write a Python model
        </Button>
      </div>
    </div>
  )
}

function Pickers({ onPick }: { onPick: (files: readonly Picked[]) => void }) {
  const file = useRef<HTMLInputElement>(null)
  const folder = useRef<HTMLInputElement>(null)
  // React has no name for this attribute.
  const whole = { webkitdirectory: '' } as InputHTMLAttributes<HTMLInputElement>
  return (
    <div className="mt-5 flex flex-wrap justify-center gap-2">
      <Button tone="primary" onClick={() => file.current?.click()}>
        <FileBox aria-hidden /> Choose a file
      </Button>
      <Button onClick={() => folder.current?.click()}>
        <FolderUp aria-hidden /> Choose a folder
      </Button>
      <input
        ref={file}
        type="file"
        aria-label="Model file"
        accept=".onnx,.zip"
        multiple
        hidden
        onChange={(event) => onPick(readInput(event.target.files))}
      />
      <input
        ref={folder}
        type="file"
        aria-label="Model folder"
        hidden
        {...whole}
        onChange={(event) => onPick(readInput(event.target.files))}
      />
    </div>
  )
}

/** A file dropped beside the field must not make the browser leave the page. */
function useNoStrayDrops(): void {
  useEffect(() => {
    const stop = (event: Event) => event.preventDefault()
    window.addEventListener('dragover', stop)
    window.addEventListener('drop', stop)
    return () => {
      window.removeEventListener('dragover', stop)
      window.removeEventListener('drop', stop)
    }
  }, [])
}
