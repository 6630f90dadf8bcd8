'use client'
import type { Published } from '@conch/server/schemas'
import { parseAsString, parseAsStringLiteral, useQueryStates } from 'nuqs'
import { useState } from 'react'
import { useRefusal } from '../../api/session.tsx'
import { Card, Skeleton } from '../../ui/card.tsx'
import { Notice } from '../../ui/message.tsx'
import { Page } from '../../ui/page.tsx'
import { DoneStep } from './done-step.tsx'
import { DropStep } from './drop-step.tsx'
import { EditStep } from './edit-step.tsx'
import { ReviewStep } from './review-step.tsx'
import { Steps } from './steps.tsx'
import { UploadStep } from './upload-step.tsx'
import { useDeploy, type DeployStage } from './use-deploy.ts'
import { WriteStep } from './write-step.tsx'

const UPLOAD = ['Choose', 'Upload', 'Check', 'Serve']
const WRITE = ['Choose', 'Write', 'Serve']

export function DeployScreen() {
  const refusal = useRefusal('editor')
  const deploy = useDeploy()
  const written = useWritten()
  const [published, setPublished] = useState<Published | null>(null)
  const names = written.what === null ? UPLOAD : WRITE
  const step = published !== null ? names.length - 1 : written.what === null ? STEP[deploy.stage.step] : 1
  const startOver = () => {
    setPublished(null)
    written.leave()
    deploy.startOver()
  }
  return (
    <Page title="Deploy" note={<Steps names={names} current={step} />}>
      {refusal !== null ? (
        <Notice tone="warn" title="You cannot deploy models">
          {refusal}
        </Notice>
      ) : published !== null ? (
        <DoneStep published={published} onAgain={startOver} />
      ) : written.what === 'new' ? (
        <WriteStep onPublished={setPublished} onCancel={startOver} />
      ) : written.what !== null ? (
        <EditStep {...written.what} onPublished={setPublished} onCancel={startOver} />
      ) : (
        <Stage deploy={deploy} onPublished={setPublished} onWrite={written.begin} />
      )}
    </Page>
  )
}

const STEP: Readonly<Record<DeployStage['step'], number>> = { choose: 0, upload: 1, inspect: 1, review: 2 }

/** A source that is being written is in the address: the way back and a reload lead where one thinks. */
function useWritten() {
  const [{ write, edit, version }, setAddress] = useQueryStates(
    { write: parseAsStringLiteral(['python'] as const), edit: parseAsString, version: parseAsString },
    { history: 'push' },
  )
  return {
    what: edit !== null && version !== null ? { model: edit, version } : write === null ? null : ('new' as const),
    begin: () => void setAddress({ write: 'python' }),
    leave: () => void setAddress(null),
  }
}

interface StageProps {
  readonly deploy: ReturnType<typeof useDeploy>
  readonly onPublished: (published: Published) => void
  readonly onWrite: () => void
}

function Stage({ deploy, onPublished, onWrite }: StageProps) {
  const { stage } = deploy
  switch (stage.step) {
    case 'choose':
      return <DropStep refusal={stage.refusal} onPick={deploy.pick} onWrite={onWrite} />
    case 'upload':
      return <UploadStep files={stage.files} progress={stage.progress} deploy={deploy} />
    case 'inspect':
      return (
        <Card className="space-y-3 p-4" aria-busy role="status">
          <p className="font-medium">Reading the model…</p>
          <Skeleton className="h-24" />
        </Card>
      )
    case 'review':
      return <ReviewStep inspection={stage.inspection} onPublished={onPublished} onCancel={deploy.startOver} />
  }
}
