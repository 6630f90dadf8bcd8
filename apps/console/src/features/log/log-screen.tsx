'use client'
import type { LogLine } from '@conch/server/schemas'
import { useSubscription } from '@trpc/tanstack-react-query'
import { ArrowDownToLine, Pause, Play, SearchX, Terminal } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useTRPC } from '../../api/client.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Input } from '../../ui/field.tsx'
import { Empty } from '../../ui/message.tsx'
import { Page } from '../../ui/page.tsx'
import { Segments } from '../../ui/tabs.tsx'
import { addLine, filterLines, LEVEL_FILTERS, printLines, type LevelFilter } from './lines.ts'
import { LogList } from './log-list.tsx'

const LABELS: Readonly<Record<LevelFilter, string>> = {
  all: 'All',
  info: 'Info and worse',
  warning: 'Warnings',
  error: 'Errors',
}

export function LogScreen() {
  const trpc = useTRPC()
  const [lines, setLines] = useState<readonly LogLine[]>([])
  const [frozen, setFrozen] = useState<readonly LogLine[] | null>(null)
  const [level, setLevel] = useState<LevelFilter>('all')
  const [text, setText] = useState('')
  useSubscription(
    trpc.log.tail.subscriptionOptions(undefined, { onData: ({ data }) => setLines((known) => addLine(known, data)) }),
  )
  const all = frozen ?? lines
  const shown = useMemo(() => filterLines(all, level, text), [all, level, text])
  return (
    <Page
      title="Log"
      fill
      note={
        frozen === null ? (
          'The server’s own, as it is written'
        ) : (
          <span className="text-warn">Paused; {lines.length - frozen.length} new</span>
        )
      }
      actions={
        <>
          <Input
            data-page-search
            type="search"
            aria-label="Search the log"
            placeholder="Search"
            className="w-52"
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
          <Segments
            label="Level"
            value={level}
            onChange={setLevel}
            options={LEVEL_FILTERS.map((value) => ({ value, label: LABELS[value] }))}
          />
          <Button aria-pressed={frozen !== null} onClick={() => setFrozen(frozen === null ? lines : null)}>
            {frozen === null ? <Pause aria-hidden /> : <Play aria-hidden />}
            {frozen === null ? 'Pause' : 'Go on'}
          </Button>
          <CopyButton text={() => printLines(shown)} label="Copy the lines" />
        </>
      }
    >
      <Card className="flex min-h-0 flex-1 flex-col overflow-hidden">
        {shown.length > 0 ? (
          <LogList lines={shown} follow={frozen === null} />
        ) : all.length === 0 ? (
          <Empty icon={Terminal} title="Nothing was logged yet">
            Loads, failures and warnings appear here as they happen.
          </Empty>
        ) : (
          <Empty
            icon={SearchX}
            title="No line matches"
            action={
              <Button onClick={() => [setText(''), setLevel('all')]}>
                <ArrowDownToLine aria-hidden /> Show all {all.length} lines
              </Button>
            }
          >
            Of {all.length} lines none fits this level and search.
          </Empty>
        )}
      </Card>
    </Page>
  )
}
