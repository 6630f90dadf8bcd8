'use client'
import { Pause, Play, X } from 'lucide-react'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { formatBytes, formatMicros, formatPercent } from '../../ui/format.ts'
import { Notice } from '../../ui/message.tsx'
import { Meter } from '../../ui/meter.tsx'
import type { Picked } from './pick-files.ts'
import type { UploadProgress } from './upload-batch.ts'
import type { Deploy } from './use-deploy.ts'

interface UploadStepProps {
  readonly files: readonly Picked[]
  readonly progress: UploadProgress
  readonly deploy: Deploy
}

export function UploadStep({ files, progress, deploy }: UploadStepProps) {
  const { state, sent, total, finished, failure } = progress
  const name = files.length === 1 ? files[0]?.path : `${files.length} files`
  return (
    <Card className="p-4">
      <div className="flex flex-wrap items-center gap-2">
        <div className="min-w-0 flex-1">
          <p className="truncate font-medium">{name}</p>
          <p className="text-soft tabular-nums" role="status">
            {formatBytes(sent)} of {formatBytes(total)} {describePace(progress)}
            {files.length > 1 && ` · ${finished} of ${files.length} files`}
          </p>
        </div>
        {state === 'running' && (
          <Button onClick={deploy.pause}>
            <Pause aria-hidden /> Pause
          </Button>
        )}
        {(state === 'paused' || state === 'failed') && (
          <Button tone="primary" onClick={deploy.resume}>
            <Play aria-hidden /> Go on
          </Button>
        )}
        <Button onClick={deploy.startOver}>
          <X aria-hidden /> Cancel
        </Button>
      </div>
      <Meter value={sent} max={total} label="Upload" className="mt-3 h-1.5" />
      <p className="mt-1 text-right text-xs text-mute tabular-nums">{formatPercent(total === 0 ? 1 : sent / total)}</p>
      {failure !== null && (
        <Notice tone="bad" title="The upload stopped" className="mt-2">
          {failure}
        </Notice>
      )}
    </Card>
  )
}

function describePace({ state, rate, sent, total }: UploadProgress): string {
  if (state === 'paused') return '· paused'
  if (rate <= 0) return ''
  const left = (total - sent) / rate
  return `· ${formatBytes(rate)}/s · ${formatMicros(Math.max(1, Math.round(left)) * 1e6)} left`
}
