'use client'
import type { Published } from '@conch/server/schemas'
import { useState } from 'react'
import { useRefusal } from '../../api/session.tsx'
import { Card, Skeleton } from '../../ui/card.tsx'
import { Notice } from '../../ui/message.tsx'
import { Page } from '../../ui/page.tsx'
import { DoneStep } from './done-step.tsx'
import { DropStep } from './drop-step.tsx'
import { ReviewStep } from './review-step.tsx'
import { Steps } from './steps.tsx'
import { UploadStep } from './upload-step.tsx'
import { useDeploy } from './use-deploy.ts'

export function DeployScreen() {
  const refusal = useRefusal('editor')
  const deploy = useDeploy()
  const [published, setPublished] = useState<Published | null>(null)
  const { stage } = deploy
  const step = published !== null ? 3 : stage.step === 'review' ? 2 : stage.step === 'choose' ? 0 : 1
  return (
    <Page title="Deploy" note={<Steps current={step} />}>
      {refusal !== null ? (
        <Notice tone="warn" title="You cannot deploy models">
          {refusal}
        </Notice>
      ) : published !== null ? (
        <DoneStep
          published={published}
          onAgain={() => {
            setPublished(null)
            deploy.startOver()
          }}
        />
      ) : (
        <Stage deploy={deploy} onPublished={setPublished} />
      )}
    </Page>
  )
}

function Stage({
  deploy,
  onPublished,
}: {
  deploy: ReturnType<typeof useDeploy>
  onPublished: (published: Published) => void
}) {
  const { stage } = deploy
  switch (stage.step) {
    case 'choose':
      return <DropStep refusal={stage.refusal} onPick={deploy.pick} />
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
