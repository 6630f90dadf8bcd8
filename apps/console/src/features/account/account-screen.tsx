'use client'
import { changePasswordSchema } from '@conch/server/schemas'
import { zodResolver } from '@hookform/resolvers/zod'
import { useMutation } from '@tanstack/react-query'
import { useForm } from 'react-hook-form'
import { toast } from 'sonner'
import type { z } from 'zod'
import { useTRPC } from '../../api/client.ts'
import { useSession } from '../../api/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Card, CardHead } from '../../ui/card.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { Notice } from '../../ui/message.tsx'
import { Page } from '../../ui/page.tsx'
import { showRefusal } from './show-refusal.ts'

export function AccountScreen() {
  const { user } = useSession()
  return (
    <Page title="Account" note={`${user.name} · ${user.role}`}>
      <div className="grid grid-cols-1 items-start gap-3 md:grid-cols-2">
        <PasswordCard />
        <ServerCard />
      </div>
    </Page>
  )
}

function PasswordCard() {
  const trpc = useTRPC()
  const { register, handleSubmit, setError, reset, formState } = useForm<z.infer<typeof changePasswordSchema>>({
    resolver: zodResolver(changePasswordSchema),
  })
  const change = useMutation(
    trpc.account.changePassword.mutationOptions({
      onSuccess: () => {
        reset()
        toast.success('The password is changed')
      },
      onError: (error) => showRefusal(error, setError),
    }),
  )
  const { errors } = formState
  const submit = handleSubmit((values) => change.mutate(values))
  return (
    <Card>
      <CardHead title="Change the password" />
      <form onSubmit={(event) => void submit(event)} className="space-y-3 p-3" noValidate>
        <Field label="Present password" error={errors.current?.message}>
          {(control) => <Input {...control} type="password" autoComplete="current-password" {...register('current')} />}
        </Field>
        <Field label="New password" hint="At least 8 characters" error={errors.next?.message}>
          {(control) => <Input {...control} type="password" autoComplete="new-password" {...register('next')} />}
        </Field>
        {errors.root && <Notice tone="bad">{errors.root.message}</Notice>}
        <Button type="submit" tone="primary" disabled={change.isPending}>
          Change it
        </Button>
      </form>
    </Card>
  )
}

function ServerCard() {
  const { server } = useSession()
  const rows = [
    ['HTTP', server.httpUrl],
    ['gRPC', server.grpcUrl],
    ['Metrics', server.metricsUrl],
  ] as const
  return (
    <Card>
      <CardHead title="Server" note={`${server.name} ${server.version}`} />
      <dl className="divide-y">
        {rows.map(([name, url]) => (
          <div key={name} className="flex min-h-9 items-center gap-3 px-3">
            <dt className="w-24 shrink-0 text-mute">{name}</dt>
            <dd className="flex min-w-0 flex-1 items-center gap-1 font-mono text-xs">
              <span className="min-w-0 flex-1 truncate">{url ?? 'off'}</span>
              {url !== null && <CopyButton text={url} label={`Copy the ${name} address`} />}
            </dd>
          </div>
        ))}
        <div className="flex min-h-9 items-center gap-3 px-3">
          <dt className="w-24 shrink-0 text-mute">Repositories</dt>
          <dd className="min-w-0 break-words">{server.repositories.join(', ')}</dd>
        </div>
        <div className="flex min-h-9 items-center gap-3 px-3">
          <dt className="w-24 shrink-0 text-mute">Control mode</dt>
          <dd>{server.controlMode}</dd>
        </div>
      </dl>
    </Card>
  )
}
