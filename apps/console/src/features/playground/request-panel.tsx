'use client'
import type { ModelDetails } from '@conch/server/schemas'
import { useState } from 'react'
import { Badge, Card } from '../../ui/card.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { TextArea } from '../../ui/field.tsx'
import { Notice } from '../../ui/message.tsx'
import { TabPanel, Tabs } from '../../ui/tabs.tsx'
import { CodeTab } from './code-tab.tsx'
import { TensorField } from './tensor-field.tsx'
import type { Playground } from './use-playground.ts'

interface RequestProps {
  readonly model: ModelDetails
  readonly version: string
  readonly playground: Playground
}

export function RequestPanel({ model, version, playground }: RequestProps) {
  const [tab, setTab] = useState('form')
  const wrong = playground.problems.length + (playground.broken === null ? 0 : 1)
  const tabs = [
    { value: 'form', label: 'Form', badge: wrong > 0 ? <Badge tone="warn">{wrong}</Badge> : undefined },
    { value: 'json', label: 'JSON' },
    { value: 'code', label: 'Code' },
  ]
  return (
    <Card className="min-w-0">
      <Tabs value={tab} onChange={setTab} tabs={tabs} label="The request" className="[&>div:first-child]:px-1">
        <TabPanel value="form" className="space-y-4 p-3">
          <FormTab model={model} playground={playground} />
        </TabPanel>
        <TabPanel value="json" className="p-3">
          <JsonTab playground={playground} />
        </TabPanel>
        <TabPanel value="code" className="p-3">
          <CodeTab model={model.name} version={version} body={playground.text} />
        </TabPanel>
      </Tabs>
    </Card>
  )
}

function FormTab({ model, playground }: Omit<RequestProps, 'version'>) {
  const { draft, broken, problems } = playground
  if (draft === null) {
    return (
      <Notice tone="warn" title="The form cannot show this JSON">
        {broken}
      </Notice>
    )
  }
  const known = new Set(draft.inputs.map((input) => input.name))
  const lost = problems.filter((problem) => !known.has(problem.input))
  return (
    <>
      {draft.inputs.map((input) => (
        <TensorField
          key={input.name}
          input={input}
          row={model.metadata?.inputs.find((row) => row.name === input.name)}
          first={playground.example?.inputs.find((each) => each.name === input.name)}
          problems={problems.filter((problem) => problem.input === input.name)}
          model={model.name}
          refusal={findRefusal(playground, input.name)}
          onChange={playground.setInput}
        />
      ))}
      {lost.map((problem) => (
        <Notice key={problem.message} tone="warn">
          {problem.message}
        </Notice>
      ))}
      {(draft.parameters !== '' || draft.outputs !== '') && (
        <Extras parameters={draft.parameters} outputs={draft.outputs} />
      )}
    </>
  )
}

/** The server's words about one input, shown where it is. */
function findRefusal({ answer }: Playground, name: string): string | null {
  const message = answer?.result.error?.message
  return message?.includes(`'${name}'`) ? message : null
}

function Extras({ parameters, outputs }: { parameters: string; outputs: string }) {
  return (
    <dl className="space-y-1 border-t pt-3 text-xs">
      {parameters !== '' && (
        <div className="flex gap-2">
          <dt className="w-20 shrink-0 text-mute">Parameters</dt>
          <dd className="min-w-0 font-mono break-words">{parameters}</dd>
        </div>
      )}
      {outputs !== '' && (
        <div className="flex gap-2">
          <dt className="w-20 shrink-0 text-mute">Outputs</dt>
          <dd className="min-w-0 font-mono break-words">{outputs}</dd>
        </div>
      )}
    </dl>
  )
}

/** A text field of a browser gets slow above this. */
const LONGEST_EDITED = 400_000

function JsonTab({ playground }: { playground: Playground }) {
  const { text, broken, setText } = playground
  const long = text.length > LONGEST_EDITED
  return (
    <div className="space-y-2">
      <div className="flex items-center justify-between gap-2">
        <p className="text-xs text-mute">The body of the request, sent to the letter: numbers keep all their digits.</p>
        <CopyButton text={text} named />
      </div>
      <TextArea
        aria-label="Request as JSON"
        rows={22}
        spellCheck={false}
        readOnly={long}
        aria-invalid={broken !== null}
        value={long ? `${text.slice(0, LONGEST_EDITED)}…` : text}
        onChange={(event) => setText(event.target.value)}
      />
      {long && <Notice>Too long to be edited here; only its beginning is shown. All of it is sent.</Notice>}
      {broken !== null && (
        <Notice tone="warn" title="Not a request that the form can show">
          {broken} It can be sent all the same.
        </Notice>
      )}
    </div>
  )
}
