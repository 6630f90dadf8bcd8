'use client'
import { ROLES, type Role, type UserRow } from '@conch/server/schemas'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import { toast } from 'sonner'
import { useTRPC } from '../../api/client.ts'
import { readFailure } from '../../api/failure.ts'
import { useSession } from '../../api/session.tsx'
import { Action } from '../../ui/action.tsx'
import { Badge } from '../../ui/card.tsx'
import { Confirm } from '../../ui/lazy-dialog.tsx'
import { Select } from '../../ui/field.tsx'
import { When } from '../../ui/when.tsx'
import { ROLE_NOTES } from './roles.ts'

interface LineProps {
  readonly row: UserRow
  /** How many admins there are: the last one stays. */
  readonly admins: number
}

export function UserLine({ row, admins }: LineProps) {
  const { user } = useSession()
  const [asking, setAsking] = useState(false)
  const { setRole, remove } = useUserChanges(row, () => setAsking(false))
  const last = row.role === 'admin' && admins === 1
  const why = last ? 'This is the only admin; make another one first.' : null
  return (
    <tr className="h-11">
      <td className="px-3 font-medium">
        {row.name} {row.id === user.id && <Badge tone="accent">you</Badge>}
      </td>
      <td className="px-3">
        <Select
          aria-label={`Role of ${row.name}`}
          value={row.role}
          disabled={last || setRole.isPending}
          title={why ?? undefined}
          onChange={(event) => setRole.mutate({ id: row.id, role: event.target.value as Role })}
        >
          {ROLES.map((role) => (
            <option key={role} value={role}>
              {role}
            </option>
          ))}
        </Select>
        <span className="ml-2 text-xs text-mute max-md:hidden">{ROLE_NOTES[row.role]}</span>
      </td>
      <td className="px-3 text-soft max-md:hidden">
        <When at={row.createdAt} />
      </td>
      <td className="px-3">
        <Action tone="quiet" size="tiny" aria-label={`Remove ${row.name}`} why={why} onClick={() => setAsking(true)}>
          <Trash2 />
        </Action>
        <Confirm
          open={asking}
          onOpenChange={setAsking}
          title={`Remove ${row.name}?`}
          action="Remove"
          danger
          busy={remove.isPending}
          onConfirm={() => remove.mutate({ id: row.id })}
        >
          {row.name} is signed out everywhere at once. What they did stays in the audit.
        </Confirm>
      </td>
    </tr>
  )
}

function useUserChanges(row: UserRow, onRemoved: () => void) {
  const trpc = useTRPC()
  const queryClient = useQueryClient()
  const refresh = () => void queryClient.invalidateQueries({ queryKey: trpc.account.pathKey() })
  const onError = (error: unknown) =>
    void toast.error(`${row.name} could not be changed`, { description: readFailure(error).message })
  const setRole = useMutation(
    trpc.account.setRole.mutationOptions({
      onError,
      onSettled: refresh,
      onSuccess: (_data, { role }) => {
        const undo = () => setRole.mutate({ id: row.id, role: row.role })
        toast.success(
          `${row.name} is now ${role}`,
          role === row.role ? {} : { action: { label: 'Undo', onClick: undo } },
        )
      },
    }),
  )
  const remove = useMutation(
    trpc.account.removeUser.mutationOptions({
      onError,
      onSettled: refresh,
      onSuccess: () => {
        onRemoved()
        toast.success(`${row.name} is removed`)
      },
    }),
  )
  return { setRole, remove }
}
