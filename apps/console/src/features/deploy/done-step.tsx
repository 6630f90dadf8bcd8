'use client'
import type { Published } from '@conch/server/schemas'
import { CircleAlert, CircleCheck, FlaskConical, Settings2 } from 'lucide-react'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Empty, Notice } from '../../ui/message.tsx'
import { Traceback } from '../../ui/python/traceback.tsx'

export function DoneStep({ published, onAgain }: { published: Published; onAgain: () => void }) {
  const { model, version, state, reason, failure } = published
  const path = encodeURIComponent(model)
  const ready = state === 'READY'
  return (
    <Card>
      <Empty
        icon={ready || reason === '' ? CircleCheck : CircleAlert}
        title={ready ? `${model}, version ${version}, is serving` : `${model}, version ${version}, is saved`}
        action={
          <>
            {ready ? (
              <ButtonLink tone="primary" href={`/playground/${path}`} prefetch={false}>
                <FlaskConical aria-hidden /> Try it in the playground
              </ButtonLink>
            ) : (
              <ButtonLink tone="primary" href={`/models/${path}?tab=config`} prefetch={false}>
                <Settings2 aria-hidden /> Open its config
              </ButtonLink>
            )}
            <ButtonLink href={`/models/${path}`} prefetch={false}>
              Look at the model
            </ButtonLink>
            <Button onClick={onAgain}>Deploy another one</Button>
          </>
        }
      >
        {ready
          ? 'It answers requests from now on.'
          : reason === ''
            ? 'It is not loaded yet.'
            : failure === undefined
              ? `It could not be loaded: ${reason}`
              : 'Its code failed when it was loaded.'}
      </Empty>
      {failure !== undefined && (
        <Notice tone="bad" className="mx-3 mb-3">
          <Traceback failure={failure} />
        </Notice>
      )}
    </Card>
  )
}
