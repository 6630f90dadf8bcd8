'use client'
import { useRef } from 'react'
import { Card, CardHead } from '../../ui/card.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Check, Field, Input, TextArea } from '../../ui/field.tsx'
import { NameField } from './publish-card.tsx'
import { addTensor, FIRST_FORM, type PythonForm } from './python-form.ts'
import { TensorRows } from './tensor-rows.tsx'
import type { ModelName } from './use-model-name.ts'
import type { PythonModel } from './use-python-model.ts'

/** Keys of the first form are below this. */
const FIRST_KEY = 100

/** What a model takes and gives: the source and the config follow it. */
export function PythonFormCard({ name, model }: { name: ModelName; model: PythonModel }) {
  const { form, problems, setForm, configText } = model
  const key = useRef(FIRST_KEY)
  const change = (part: Partial<PythonForm>) => setForm({ ...form, ...part })
  const add = (side: 'inputs' | 'outputs') => {
    key.current += 1
    change({ [side]: addTensor(form[side], side === 'inputs' ? 'INPUT' : 'OUTPUT', key.current) })
  }
  const rows = (side: 'inputs' | 'outputs') => (
    <TensorRows
      side={side}
      rows={form[side]}
      problems={problems}
      onChange={(next) => change({ [side]: next })}
      onAdd={() => add(side)}
    />
  )
  return (
    <Card>
      <CardHead title="Signature" note="source and config follow it" />
      <div className="space-y-4 p-3">
        <NameField name={name} />
        {rows('inputs')}
        {rows('outputs')}
        <p className="text-xs text-mute">
          -1 = any size.{' '}
          {form.maxBatch.trim() === '0'
            ? 'Requests have exactly these dims.'
            : 'Requests have the batch in front of these dims.'}
        </p>
        <Numbers form={form} problems={problems} onChange={change} />
        <Check
          label="Decoupled"
          hint="Answers a request any number of times, also none"
          checked={form.decoupled}
          onChange={(event) => change({ decoupled: event.target.checked })}
        />
        <details>
          <summary className="rounded text-xs font-medium text-soft">config.pbtxt that is written</summary>
          <div className="relative mt-2">
            <pre tabIndex={0} className="max-h-72 overflow-auto rounded-md bg-hover p-3 font-mono text-xs">
              {configText}
            </pre>
            <span className="absolute top-1 right-1">
              <CopyButton text={configText} label="Copy the config" />
            </span>
          </div>
        </details>
      </div>
    </Card>
  )
}

interface NumbersProps {
  readonly form: PythonForm
  readonly problems: PythonModel['problems']
  readonly onChange: (part: Partial<PythonForm>) => void
}

function Numbers({ form, problems, onChange }: NumbersProps) {
  const wrong = (field: string) => problems.find((problem) => problem.field === field)?.message
  return (
    <div className="grid grid-cols-2 gap-3">
      <Field label="Largest batch" error={wrong('maxBatch')} hint="0 = requests are not joined">
        {(control) => (
          <Input
            {...control}
            inputMode="numeric"
            placeholder={FIRST_FORM.maxBatch}
            value={form.maxBatch}
            onChange={(event) => onChange({ maxBatch: event.target.value })}
          />
        )}
      </Field>
      <Field label="Instances" error={wrong('instances')} hint="A process each">
        {(control) => (
          <Input
            {...control}
            inputMode="numeric"
            placeholder={FIRST_FORM.instances}
            value={form.instances}
            onChange={(event) => onChange({ instances: event.target.value })}
          />
        )}
      </Field>
    </div>
  )
}

interface RequirementsProps {
  readonly value: string
  readonly onChange: (value: string) => void
}

/** Packages that the server installs for this model alone. */
export function RequirementsCard({ value, onChange }: RequirementsProps) {
  return (
    <Card>
      <details open={value !== ''}>
        <summary className="px-3 py-2.5 text-[13px] font-semibold">
          requirements.txt <span className="ml-1 text-xs font-normal text-mute">optional</span>
        </summary>
        <div className="px-3 pb-3">
          <TextArea
            aria-label="requirements.txt"
            rows={4}
            spellCheck={false}
            placeholder={'scikit-learn==1.7.2\nregex'}
            value={value}
            onChange={(event) => onChange(event.target.value)}
          />
          <p className="mt-1 text-xs text-mute">
            One package a line. They are installed once, into an environment of their own, before the model is loaded.
          </p>
        </div>
      </details>
    </Card>
  )
}
