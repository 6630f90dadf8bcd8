'use client'
import { createUserSchema, ROLES } from '@conch/server/schemas'
import { zodResolver } from '@hookform/resolvers/zod'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useForm } from 'react-hook-form'
import { toast } from 'sonner'
import type { z } from 'zod'
import { useTRPC } from '../../api/client.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, Input, Select } from '../../ui/field.tsx'
import { Notice } from '../../ui/message.tsx'
import { ROLE_NOTES } from './roles.ts'
import { showRefusal } from './show-refusal.ts'

interface AddUserProps {
  readonly open: boolean
  readonly onOpenChange: (open: boolean) => void
}

export function AddUserDialog({ open, onOpenChange }: AddUserProps) {
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="Add a person"
      description="They sign in with this name and password, and can change the password then."
    >
      <AddUserForm onDone={() => onOpenChange(false)} />
    </Dialog>
  )
}

function AddUserForm({ onDone }: { onDone: () => void }) {
  const trpc = useTRPC()
  const queryClient = useQueryClient()
  const { register, handleSubmit, setError, formState } = useForm<z.infer<typeof createUserSchema>>({
    resolver: zodResolver(createUserSchema),
    defaultValues: { role: 'viewer' },
  })
  const create = useMutation(
    trpc.account.createUser.mutationOptions({
      onSuccess: (_data, { name }) => {
        void queryClient.invalidateQueries({ queryKey: trpc.account.users.queryKey() })
        toast.success(`${name} is added`)
        onDone()
      },
      onError: (error) => showRefusal(error, setError),
    }),
  )
  const { errors } = formState
  const submit = handleSubmit((values) => create.mutate(values))
  return (
    <form onSubmit={(event) => void submit(event)} className="space-y-3 pb-1" noValidate>
      <Field label="Name" error={errors.name?.message}>
        {(control) => (
          <Input {...control} autoComplete="off" autoCapitalize="none" spellCheck={false} {...register('name')} />
        )}
      </Field>
      <Field label="Password" hint="At least 8 characters" error={errors.password?.message}>
        {(control) => <Input {...control} type="password" autoComplete="new-password" {...register('password')} />}
      </Field>
      <Field label="Role" error={errors.role?.message}>
        {(control) => (
          <Select {...control} className="w-full" {...register('role')}>
            {ROLES.map((role) => (
              <option key={role} value={role}>
                {role}: {ROLE_NOTES[role]}
              </option>
            ))}
          </Select>
        )}
      </Field>
      {errors.root && <Notice tone="bad">{errors.root.message}</Notice>}
      <div className="flex justify-end gap-2 pt-1">
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" tone="primary" disabled={create.isPending}>
          Add
        </Button>
      </div>
    </form>
  )
}
