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
  const missed = frozen === null ? 0 : lines.length - frozen.length
  return (
    <Page
      title="Log"
      fill
      note={frozen === null ? 'The server’s own, as it is written' : <Paused missed={missed} />}
      actions={
        <>
          <LogFilter level={level} onLevel={setLevel} text={text} onText={setText} />
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
        ) : (
          <NoLines total={all.length} onClear={() => [setText(''), setLevel('all')]} />
        )}
      </Card>
    </Page>
  )
}

function Paused({ missed }: { missed: number }) {
  return <span className="text-warn">Paused; {missed} new</span>
}

interface FilterProps {
  readonly level: LevelFilter
  readonly onLevel: (level: LevelFilter) => void
  readonly text: string
  readonly onText: (text: string) => void
}

function LogFilter({ level, onLevel, text, onText }: FilterProps) {
  return (
    <>
      <Input
        data-page-search
        type="search"
        aria-label="Search the log"
        placeholder="Search"
        className="w-52"
        value={text}
        onChange={(event) => onText(event.target.value)}
      />
      <Segments
        label="Level"
        value={level}
        onChange={onLevel}
        options={LEVEL_FILTERS.map((value) => ({ value, label: LABELS[value] }))}
      />
    </>
  )
}

function NoLines({ total, onClear }: { total: number; onClear: () => void }) {
  if (total === 0) {
    return (
      <Empty icon={Terminal} title="Nothing was logged yet">
        Loads, failures and warnings appear here as they happen.
      </Empty>
    )
  }
  return (
    <Empty
      icon={SearchX}
      title="No line matches"
      action={
        <Button onClick={onClear}>
          <ArrowDownToLine aria-hidden /> Show all {total} lines
        </Button>
      }
    >
      Of {total} lines none fits this level and search.
    </Empty>
  )
}
