'use client'
import type { ModelDetails } from '@conch/server/schemas'
import { FlaskConical, Pin, PinOff } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Badge, Card, Skeleton } from '../../ui/card.tsx'
import { Empty, Notice } from '../../ui/message.tsx'
import { TabPanel, Tabs } from '../../ui/tabs.tsx'
import { compareAnswers } from './answer.ts'
import { HistoryList } from './history-list.tsx'
import { pin, useHistory, type Entry } from './history.ts'
import { OutputCard } from './output-card.tsx'
import { RawTab } from './raw-tab.tsx'
import { TimingBar } from './timing-bar.tsx'
import type { Playground } from './use-playground.ts'

export function AnswerPanel({ model, playground }: { model: ModelDetails; playground: Playground }) {
  const [tab, setTab] = useState('answer')
  const { entries, pinned } = useHistory(model.name)
  const { answer, sending, failure } = playground
  const tabs = [
    { value: 'answer', label: 'Answer', badge: answer && <Status entry={answer} /> },
    { value: 'raw', label: 'Raw' },
    { value: 'history', label: 'History', badge: entries.length > 0 ? <Badge>{entries.length}</Badge> : undefined },
  ]
  return (
    <Card className="min-w-0" aria-live="polite">
      <Tabs
        value={tab}
        onChange={setTab}
        tabs={tabs}
        label="The answer"
        className="[&>div:first-child]:px-1"
        aside={answer && <PinButton entry={answer} pinned={pinned} />}
      >
        <TabPanel value="answer" className="p-3">
          {sending ? (
            <div className="space-y-2" aria-busy>
              <Skeleton className="h-6" />
              <Skeleton className="h-32" />
            </div>
          ) : failure !== null ? (
            <Notice tone="bad" title="No answer">
              {failure}
            </Notice>
          ) : answer === null ? (
            <Empty
              icon={FlaskConical}
              title="Nothing asked yet"
              action={<Button onClick={playground.send}>Send the example</Button>}
            >
              The form holds a request that this model accepts. Change it, or send it as it is.
            </Empty>
          ) : (
            <Answer entry={answer} pinned={pinned} labels={model.labels} />
          )}
        </TabPanel>
        <TabPanel value="raw" className="p-3">
          <RawTab entry={answer} />
        </TabPanel>
        <TabPanel value="history" className="p-3">
          <HistoryList
            entries={entries}
            shown={answer}
            pinned={pinned}
            onShow={(entry) => {
              playground.show(entry)
              setTab('answer')
            }}
          />
        </TabPanel>
      </Tabs>
    </Card>
  )
}

function Status({ entry }: { entry: Entry }) {
  const { status } = entry.result
  return <Badge tone={status === 200 ? 'good' : 'bad'}>{status}</Badge>
}

function PinButton({ entry, pinned }: { entry: Entry; pinned: Entry | null }) {
  const on = pinned?.id === entry.id
  return (
    <Button
      size="small"
      tone="quiet"
      className="mr-1"
      aria-pressed={on}
      onClick={() => pin(on ? null : entry.id)}
      title="Later answers are compared with the pinned one"
    >
      {on ? <PinOff aria-hidden /> : <Pin aria-hidden />}
      {on ? 'Unpin' : 'Pin'}
    </Button>
  )
}

interface AnswerProps {
  readonly entry: Entry
  readonly pinned: Entry | null
  readonly labels: ModelDetails['labels']
}

function Answer({ entry, pinned, labels }: AnswerProps) {
  const { result } = entry
  const differences =
    pinned === null || pinned.id === entry.id ? [] : compareAnswers(pinned.result.outputs, result.outputs)
  return (
    <div className="space-y-3">
      <TimingBar timing={result.timing} clientMs={entry.clientMs} />
      {result.error !== undefined && (
        <Notice tone="bad" title={`${result.error.httpStatus} · ${result.error.code}`}>
          {result.error.message}
        </Notice>
      )}
      {result.outputs.map((output) => (
        <OutputCard
          key={output.name}
          output={output}
          labels={labels[output.name]}
          difference={differences.find((each) => each.output === output.name)}
        />
      ))}
    </div>
  )
}
