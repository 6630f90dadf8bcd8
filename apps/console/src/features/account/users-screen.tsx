'use client'
import { useQuery } from '@tanstack/react-query'
import { ShieldAlert, UserPlus } from 'lucide-react'
import { useState } from 'react'
import { useTRPC } from '../../api/client.ts'
import { readFailure } from '../../api/failure.ts'
import { useRefusal } from '../../api/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Card, Skeleton } from '../../ui/card.tsx'
import { Empty } from '../../ui/message.tsx'
import { Page } from '../../ui/page.tsx'
import { Retry } from '../../ui/retry.tsx'
import { AddUserDialog } from './add-user-dialog.tsx'
import { UserLine } from './user-line.tsx'

export function UsersScreen() {
  const why = useRefusal('admin')
  const [adding, setAdding] = useState(false)
  if (why !== null) {
    return (
      <Page title="Users">
        <Card>
          <Empty icon={ShieldAlert} title="Only admins see the users">
            {why}
          </Empty>
        </Card>
      </Page>
    )
  }
  return (
    <Page
      title="Users"
      actions={
        <Button tone="primary" onClick={() => setAdding(true)}>
          <UserPlus aria-hidden /> Add a person
        </Button>
      }
    >
      <UserList />
      <AddUserDialog open={adding} onOpenChange={setAdding} />
    </Page>
  )
}

function UserList() {
  const trpc = useTRPC()
  const { data, error, refetch } = useQuery(trpc.account.users.queryOptions())
  if (data === undefined && error !== null) {
    return (
      <Retry what="The users could not be listed" message={readFailure(error).message} onRetry={() => void refetch()} />
    )
  }
  if (data === undefined) return <Skeleton className="h-40" />
  return (
    <Card className="overflow-x-auto">
      <table className="w-full">
        <thead className="text-left text-xs text-mute">
          <tr className="h-8 border-b">
            <th className="px-3 font-medium">Name</th>
            <th className="px-3 font-medium">Role</th>
            <th className="px-3 font-medium max-md:hidden">Added</th>
            <th className="w-10 px-3">
              <span className="sr-only">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody className="divide-y">
          {data.map((row) => (
            <UserLine key={row.id} row={row} admins={data.filter((each) => each.role === 'admin').length} />
          ))}
        </tbody>
      </table>
    </Card>
  )
}
