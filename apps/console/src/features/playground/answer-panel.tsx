'use client'
import type { InferResult, ModelDetails } from '@conch/server/schemas'
import { FlaskConical, Pin, PinOff } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Badge, Card, Skeleton } from '../../ui/card.tsx'
import { Empty, Notice } from '../../ui/message.tsx'
import { Traceback } from '../../ui/python/traceback.tsx'
import { TabPanel, Tabs } from '../../ui/tabs.tsx'
import { compareAnswers } from './answer.ts'
import { AnswersList } from './answers-list.tsx'
import { HistoryList } from './history-list.tsx'
import { pin, useHistory, type Entry } from './history.ts'
import { OutputCard } from './output-card.tsx'
import { RawTab } from './raw-tab.tsx'
import type { StreamAnswer } from './stream.ts'
import { TimingBar } from './timing-bar.tsx'
import type { Playground } from './use-playground.ts'

export function AnswerPanel({ model, playground }: { model: ModelDetails; playground: Playground }) {
  const [tab, setTab] = useState('answer')
  const { entries, pinned } = useHistory(model.name)
  const { answer } = playground
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
          <AnswerTab model={model} playground={playground} pinned={pinned} />
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

function AnswerTab({ model, playground, pinned }: TabProps) {
  const { answer, sending, arriving, failure } = playground
  if (arriving !== null) return <Arriving answers={arriving} labels={model.labels} />
  if (sending) {
    return (
      <div className="space-y-2" aria-busy>
        <Skeleton className="h-6" />
        <Skeleton className="h-32" />
      </div>
    )
  }
  if (failure !== null) {
    return (
      <Notice tone="bad" title="No answer">
        {failure}
      </Notice>
    )
  }
  if (answer !== null) return <Answer key={answer.id} entry={answer} pinned={pinned} labels={model.labels} />
  return (
    <Empty
      icon={FlaskConical}
      title="Nothing asked yet"
      action={<Button onClick={playground.send}>Send the example</Button>}
    >
      The form holds a request that this model accepts. Change it, or send it as it is.
    </Empty>
  )
}

interface TabProps {
  readonly model: ModelDetails
  readonly playground: Playground
  readonly pinned: Entry | null
}

function Status({ entry }: { entry: Entry }) {
  const { status } = entry.result
  if (entry.stopped === true) return <Badge>stopped</Badge>
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
  const { result, answers = [] } = entry
  const [chosen, setChosen] = useState<number | null>(null)
  const outputs = answers.find(({ index }) => index === chosen)?.outputs ?? result.outputs
  const differences = pinned === null || pinned.id === entry.id ? [] : compareAnswers(pinned.result.outputs, outputs)
  return (
    <div className="space-y-3">
      <Outcome entry={entry} />
      <Answers entry={entry} chosen={chosen} onChoose={setChosen} />
      {outputs.map((output) => (
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

interface AnswersProps {
  readonly entry: Entry
  readonly chosen: number | null
  readonly onChoose: (index: number) => void
}

/** Of a model that answers bit by bit; a run that failed before the first answer says enough without. */
function Answers({ entry, chosen, onChoose }: AnswersProps) {
  const { answers, total, result } = entry
  if (answers === undefined || (answers.length === 0 && result.error !== undefined)) return null
  const last = answers.at(-1)?.index ?? null
  return <AnswersList answers={answers} chosen={chosen ?? last} onChoose={onChoose} total={total ?? answers.length} />
}

/** How long it took, and what went wrong. */
function Outcome({ entry: { result, stopped, clientMs } }: { entry: Entry }) {
  if (stopped === true) {
    return <Notice title="Stopped">The server was told to end it; these are the answers until then.</Notice>
  }
  return (
    <>
      <TimingBar timing={result.timing} clientMs={clientMs} />
      {result.error !== undefined && <Refusal error={result.error} />}
    </>
  )
}

/** A model that is still answering: the newest answer in full, or the one that was picked. */
function Arriving({ answers, labels }: { answers: readonly StreamAnswer[]; labels: ModelDetails['labels'] }) {
  const [chosen, setChosen] = useState<number | null>(null)
  const shown = answers.find(({ index }) => index === chosen) ?? answers.at(-1)
  return (
    <div className="space-y-3" aria-busy>
      <AnswersList answers={answers} chosen={chosen} onChoose={setChosen} total={null} />
      {shown?.outputs.map((output) => (
        <OutputCard key={output.name} output={output} labels={labels[output.name]} difference={undefined} />
      ))}
    </div>
  )
}

function Refusal({ error }: { error: NonNullable<InferResult['error']> }) {
  const { httpStatus, code, message, python } = error
  return (
    <Notice tone="bad" title={python === undefined ? `${httpStatus} · ${code}` : 'The model’s code failed'}>
      {python === undefined ? message : <Traceback failure={python} />}
    </Notice>
  )
}
