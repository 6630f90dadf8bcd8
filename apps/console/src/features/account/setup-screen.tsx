'use client'
import { setupSchema } from '@conch/server/schemas'
import { zodResolver } from '@hookform/resolvers/zod'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useEffect } from 'react'
import { useForm } from 'react-hook-form'
import type { z } from 'zod'
import { useTRPC } from '../../api/client.ts'
import { Button } from '../../ui/button.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { Notice } from '../../ui/message.tsx'
import { Door } from './door.tsx'
import { showRefusal } from './show-refusal.ts'

type SetupForm = z.infer<typeof setupSchema>

export function SetupScreen() {
  const trpc = useTRPC()
  const router = useRouter()
  const state = useQuery(trpc.account.state.queryOptions())
  const done = state.data?.setupNeeded === false
  useEffect(() => {
    if (done) router.replace('/models')
  }, [done, router])
  return (
    <Door
      title="Make the admin account"
      note="You are the first one here. This account may do everything: deploy models, change their configs, and add other people."
    >
      <SetupForm tokenNeeded={state.data?.setupTokenNeeded ?? false} onDone={() => window.location.assign('/models')} />
    </Door>
  )
}

function SetupForm({ tokenNeeded, onDone }: { tokenNeeded: boolean; onDone: () => void }) {
  const trpc = useTRPC()
  const { register, handleSubmit, setError, formState } = useForm<SetupForm>({ resolver: zodResolver(setupSchema) })
  const setup = useMutation(
    trpc.account.setup.mutationOptions({ onSuccess: onDone, onError: (error) => showRefusal(error, setError) }),
  )
  const { errors } = formState
  const submit = handleSubmit(({ token, ...rest }) => setup.mutate(token ? { ...rest, token } : rest))
  return (
    <form onSubmit={(event) => void submit(event)} className="space-y-4" noValidate>
      <Field label="Name" hint="Letters, digits and . _ @ -" error={errors.name?.message}>
        {(control) => (
          <Input
            {...control}
            autoFocus
            autoComplete="username"
            autoCapitalize="none"
            spellCheck={false}
            {...register('name')}
          />
        )}
      </Field>
      <Field label="Password" hint="At least 8 characters; a sentence is best" error={errors.password?.message}>
        {(control) => <Input {...control} type="password" autoComplete="new-password" {...register('password')} />}
      </Field>
      {tokenNeeded && (
        <Field
          label="Setup token"
          hint="Printed in the server’s log, because this console can be reached from other machines"
          error={errors.token?.message}
        >
          {(control) => (
            <Input {...control} autoComplete="off" spellCheck={false} className="font-mono" {...register('token')} />
          )}
        </Field>
      )}
      {errors.root && <Notice tone="bad">{errors.root.message}</Notice>}
      <Button
        type="submit"
        tone="primary"
        size="large"
        className="w-full"
        disabled={setup.isPending || setup.isSuccess}
      >
        {setup.isPending ? 'Making the account…' : 'Make the account'}
      </Button>
    </form>
  )
}
