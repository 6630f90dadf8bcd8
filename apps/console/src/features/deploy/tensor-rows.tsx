'use client'
import type { Datatype } from '@conch/protocol'
import { Plus, Trash2 } from 'lucide-react'
import { Button } from '../../ui/button.tsx'
import { Checkbox, Input, Select } from '../../ui/field.tsx'
import { PYTHON_DATATYPES, type FormProblem, type TensorForm } from './python-form.ts'

interface RowsProps {
  readonly side: 'inputs' | 'outputs'
  readonly rows: readonly TensorForm[]
  readonly problems: readonly FormProblem[]
  readonly onChange: (rows: readonly TensorForm[]) => void
  readonly onAdd: () => void
}

const TITLES = { inputs: 'Inputs', outputs: 'Outputs' }
const COLUMNS = {
  inputs: 'grid-cols-[minmax(0,1fr)_6rem_minmax(0,1fr)_4.5rem_2rem] max-sm:grid-cols-[minmax(0,1fr)_6rem_2rem]',
  outputs: 'grid-cols-[minmax(0,1fr)_6rem_minmax(0,1fr)_2rem] max-sm:grid-cols-[minmax(0,1fr)_6rem_2rem]',
}

/** The tensors of one side: name, datatype, sizes. */
export function TensorRows({ side, rows, problems, onChange, onAdd }: RowsProps) {
  const own = problems.find(({ field }) => field === side)
  const change = (key: number, part: Partial<TensorForm>) =>
    onChange(rows.map((row) => (row.key === key ? { ...row, ...part } : row)))
  return (
    <fieldset className="min-w-0 space-y-2">
      <legend className="mb-1 flex w-full items-center gap-2 text-xs font-medium text-soft">
        {TITLES[side]}
        <Button size="small" tone="quiet" className="ml-auto" onClick={onAdd}>
          <Plus aria-hidden /> Add {side === 'inputs' ? 'an input' : 'an output'}
        </Button>
      </legend>
      {rows.length > 0 && (
        <div aria-hidden className={`grid gap-1.5 text-2xs text-mute max-sm:hidden ${COLUMNS[side]}`}>
          <span>Name</span>
          <span>Type</span>
          <span>Dims</span>
        </div>
      )}
      {rows.map((row, index) => (
        <TensorRow
          key={row.key}
          side={side}
          row={row}
          problems={problems.filter(({ field }) => field.startsWith(`${side}.${index}.`))}
          onChange={(part) => change(row.key, part)}
          onRemove={() => onChange(rows.filter(({ key }) => key !== row.key))}
        />
      ))}
      {own !== undefined && (
        <p role="alert" className="text-xs text-bad">
          {own.message}
        </p>
      )}
    </fieldset>
  )
}

interface RowProps {
  readonly side: 'inputs' | 'outputs'
  readonly row: TensorForm
  readonly problems: readonly FormProblem[]
  readonly onChange: (part: Partial<TensorForm>) => void
  readonly onRemove: () => void
}

function TensorRow({ side, row, problems, onChange, onRemove }: RowProps) {
  const about = row.name || 'this tensor'
  const isWrong = (part: string) => problems.some(({ field }) => field.endsWith(`.${part}`))
  return (
    <div>
      <div className={`grid items-center gap-1.5 ${COLUMNS[side]}`}>
        <Input
          aria-label={`Name of ${side.slice(0, -1)} ${about}`}
          aria-invalid={isWrong('name')}
          placeholder="Name"
          className="font-mono"
          spellCheck={false}
          value={row.name}
          onChange={(event) => onChange({ name: event.target.value })}
        />
        <Select
          aria-label={`Datatype of ${about}`}
          value={row.datatype}
          onChange={(event) => onChange({ datatype: event.target.value as Datatype })}
        >
          {PYTHON_DATATYPES.map((datatype) => (
            <option key={datatype}>{datatype}</option>
          ))}
        </Select>
        <Button tone="quiet" size="icon" className="sm:order-last" aria-label={`Remove ${about}`} onClick={onRemove}>
          <Trash2 />
        </Button>
        <span className="flex min-w-0 items-center gap-2 max-sm:col-span-2">
          <span aria-hidden className="text-2xs text-mute sm:hidden">
            Dims
          </span>
          <Input
            aria-label={`Dims of ${about}`}
            aria-invalid={isWrong('dims')}
            placeholder="3, -1"
            className="font-mono"
            spellCheck={false}
            value={row.dims}
            onChange={(event) => onChange({ dims: event.target.value })}
          />
        </span>
        {side === 'inputs' && (
          <label className="flex items-center gap-1.5 text-xs text-soft max-sm:col-span-3">
            <Checkbox checked={row.optional} onChange={(event) => onChange({ optional: event.target.checked })} />
            optional
          </label>
        )}
      </div>
      {problems.map(({ field, message }) => (
        <p key={field} role="alert" className="mt-1 text-xs text-bad">
          {field.endsWith('.name') ? 'Name' : 'Dims'}: {message}
        </p>
      ))}
    </div>
  )
}
