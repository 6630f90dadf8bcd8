'use client'
import { countElements } from '@conch/protocol'
import type { TensorRow } from '@conch/server/schemas'
import { Dices, Hash, ListOrdered } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { TextArea } from '../../ui/field.tsx'
import { formatCount } from '../../ui/format.ts'
import { fitsShape, fitShape } from './check-draft.ts'
import { splitValues, type DraftTensor } from './draft.ts'
import { fillValues, type Fill } from './fill.ts'

interface ValuesFieldProps {
  readonly input: DraftTensor
  readonly row: TensorRow | undefined
  readonly onChange: (change: Partial<DraftTensor>) => void
}

/** More values than this are not shown for editing: a text field with them would only stutter. */
const MOST_EDITED = 3000
const MOST_FILLED = 2_000_000
const SHOWN = 60

export function ValuesField({ input, row, onChange }: ValuesFieldProps) {
  const { values, datatype } = input
  return (
    <div>
      {values.length > MOST_EDITED ? (
        <p className="rounded-md border border-line bg-hover px-2.5 py-2 font-mono text-xs break-all text-soft">
          {values.slice(0, SHOWN).join(', ')}, …{' '}
          <span className="font-sans text-mute">({formatCount(values.length)} values; change them as JSON)</span>
        </p>
      ) : (
        <ValuesText input={input} row={row} onChange={onChange} />
      )}
      <div className="mt-1 flex flex-wrap items-center gap-1 text-xs text-mute">
        <span className="mr-auto tabular-nums">
          {formatCount(values.length)} {values.length === 1 ? 'value' : 'values'}
          {input.source !== '' && ` from ${input.source}`}
          {datatype === 'BYTES' && ', one a line'}
        </span>
        {datatype !== 'BYTES' && <Fills input={input} onChange={onChange} />}
      </div>
    </div>
  )
}

function Fills({ input, onChange }: Omit<ValuesFieldProps, 'row'>) {
  const count = Math.min(MOST_FILLED, countElements(input.shape))
  const fill = (kind: Fill) => onChange({ values: fillValues(kind, { datatype: input.datatype, count }), source: '' })
  return (
    <>
      <Button size="small" tone="quiet" onClick={() => fill('zeros')}>
        <Hash aria-hidden /> Zeros
      </Button>
      <Button size="small" tone="quiet" onClick={() => fill('random')}>
        <Dices aria-hidden /> Random
      </Button>
      <Button size="small" tone="quiet" onClick={() => fill('range')}>
        <ListOrdered aria-hidden /> 0, 1, 2…
      </Button>
    </>
  )
}

function ValuesText({ input, row, onChange }: ValuesFieldProps) {
  const [text, setText] = useState(() => printValues(input))
  const [seen, setSeen] = useState(input.values)
  // Values that came from elsewhere replace what was typed; one's own typing stays as it is.
  if (seen !== input.values) {
    setSeen(input.values)
    setText(printValues(input))
  }
  const change = (next: string) => {
    setText(next)
    const values = readValues(next, input)
    setSeen(values)
    onChange({ values, source: '', ...adaptShape(input, row, values.length) })
  }
  const lines = Math.min(6, Math.max(2, Math.ceil(text.length / 70), text.split('\n').length))
  return (
    <TextArea
      aria-label={`Values of ${input.name}`}
      rows={lines}
      spellCheck={false}
      value={text}
      onChange={(event) => change(event.target.value)}
    />
  )
}

/** BYTES: every line is an element, except that a single element may have several lines. */
function readValues(text: string, { datatype, shape }: DraftTensor): string[] {
  if (datatype !== 'BYTES') return splitValues(text)
  return countElements(shape) === 1 ? [text] : text.split('\n')
}

function printValues({ values, datatype }: DraftTensor): string {
  return datatype === 'BYTES' ? values.join('\n') : values.join(', ')
}

/** While the shape fits the model, it follows the number of values. */
function adaptShape(
  input: DraftTensor,
  row: TensorRow | undefined,
  count: number,
): Pick<DraftTensor, 'shape'> | undefined {
  if (row === undefined || input.datatype === 'BYTES' || !fitsShape(input.shape, row.shape)) return undefined
  if (countElements(input.shape) === count) return undefined
  const shape = fitShape(row.shape, count)
  return shape === null ? undefined : { shape }
}
