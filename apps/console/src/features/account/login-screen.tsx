'use client'
import { loginSchema } from '@conch/server/schemas'
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
import { readNextPath } from './next-path.ts'
import { showRefusal } from './show-refusal.ts'

export function LoginScreen() {
  const trpc = useTRPC()
  const router = useRouter()
  const state = useQuery(trpc.account.state.queryOptions())
  const target = state.data?.setupNeeded ? '/setup' : state.data?.user ? '/models' : null
  useEffect(() => {
    if (target !== null) router.replace(target)
  }, [target, router])
  return (
    <Door title="Sign in" note="With the account that an admin of this server made for you.">
      <LoginForm />
    </Door>
  )
}

function LoginForm() {
  const trpc = useTRPC()
  const { register, handleSubmit, setError, formState } = useForm<z.infer<typeof loginSchema>>({
    resolver: zodResolver(loginSchema),
  })
  const login = useMutation(
    trpc.account.login.mutationOptions({
      // A full load: the new session's socket and data begin from nothing.
      onSuccess: () => window.location.assign(readNextPath(window.location.search)),
      onError: (error) => showRefusal(error, setError),
    }),
  )
  const { errors } = formState
  const submit = handleSubmit((values) => login.mutate(values))
  return (
    <form onSubmit={(event) => void submit(event)} className="space-y-4" noValidate>
      <Field label="Name" error={errors.name && 'Type your name'}>
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
      <Field label="Password" error={errors.password && 'Type your password'}>
        {(control) => <Input {...control} type="password" autoComplete="current-password" {...register('password')} />}
      </Field>
      {errors.root && <Notice tone="bad">{errors.root.message}</Notice>}
      <Button
        type="submit"
        tone="primary"
        size="large"
        className="w-full"
        disabled={login.isPending || login.isSuccess}
      >
        {login.isPending ? 'Signing in…' : 'Sign in'}
      </Button>
    </form>
  )
}
