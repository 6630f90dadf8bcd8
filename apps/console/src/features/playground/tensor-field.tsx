'use client'
import type { TensorRow } from '@conch/server/schemas'
import { AudioLines, Brush, FileUp, Image as ImageIcon, ListOrdered, Type, type LucideIcon } from 'lucide-react'
import { useRef, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Badge } from '../../ui/card.tsx'
import { Notice } from '../../ui/message.tsx'
import { Segments } from '../../ui/tabs.tsx'
import { AudioField } from './audio-field.tsx'
import { describeShape, type InputProblem } from './check-draft.ts'
import { DrawField } from './draw-field.tsx'
import type { DraftTensor } from './draft.ts'
import { ImageField } from './image-field.tsx'
import { placeImage, type ImagePlace } from './image.ts'
import { parseNpy } from './npy.ts'
import { ShapeField } from './shape-field.tsx'
import { chooseSource, listSources, placePad, type SourceKind } from './sources.ts'
import { ValuesField } from './values-field.tsx'

export interface TensorFieldProps {
  readonly input: DraftTensor
  /** What the model expects; undefined for an input that it does not have. */
  readonly row: TensorRow | undefined
  /** The example's values. */
  readonly first: DraftTensor | undefined
  readonly problems: readonly InputProblem[]
  readonly model: string
  /** What the server said about this input. */
  readonly refusal: string | null
  readonly onChange: (name: string, change: Partial<DraftTensor>) => void
}

const LOOKS: Readonly<Record<SourceKind, { icon: LucideIcon; label: string }>> = {
  values: { icon: ListOrdered, label: 'Values' },
  text: { icon: Type, label: 'Text' },
  image: { icon: ImageIcon, label: 'Image' },
  draw: { icon: Brush, label: 'Draw' },
  audio: { icon: AudioLines, label: 'Audio' },
}

/** One input: what it is, where its values come from, and what is wrong with them. */
export function TensorField(props: TensorFieldProps) {
  const { input, row, problems, refusal, model, onChange } = props
  const shape = row?.shape ?? input.shape
  const place = placeImage(shape, input.datatype)
  const sources = listSources({ shape, datatype: input.datatype, model, input: input.name }, place)
  const [kind, setKind] = useState<SourceKind>(() => chooseSource(sources, { model, input: input.name }, place))
  const change = (next: Partial<DraftTensor>) => onChange(input.name, next)
  const options = sources.map((value) => {
    const { icon: Icon, label } = LOOKS[value]
    return {
      value,
      name: label,
      label: (
        <span className="flex items-center gap-1">
          <Icon className="size-3.5" aria-hidden /> {label}
        </span>
      ),
    }
  })
  return (
    <fieldset className="min-w-0">
      <legend className="sr-only">Input {input.name}</legend>
      <div className="mb-1.5 flex flex-wrap items-center gap-x-2 gap-y-1">
        <span className="font-mono text-[13px] font-semibold break-all">{input.name}</span>
        <Badge>{input.datatype}</Badge>
        <span className="font-mono text-xs text-mute" title="What the model expects">
          {describeShape(shape)}
        </span>
        <span className="ml-auto flex items-center gap-1.5">
          {options.length > 1 && (
            <Segments label={`Where ${input.name} comes from`} value={kind} onChange={setKind} options={options} />
          )}
          <NpyButton input={input} onChange={change} />
        </span>
      </div>
      <ShapeField input={input} row={row} onChange={change} />
      <Source kind={kind} place={place} {...props} onChange={change} />
      {problems.map((problem) => (
        <Notice
          key={problem.message}
          tone="warn"
          className="mt-2"
          action={<FixButton problem={problem} onFix={(fixed) => change({ shape: fixed })} />}
        >
          {problem.message}
        </Notice>
      ))}
      {refusal !== null && problems.length === 0 && (
        <Notice tone="bad" className="mt-2">
          {refusal}
        </Notice>
      )}
    </fieldset>
  )
}

type SourceProps = Omit<TensorFieldProps, 'onChange'> & {
  readonly kind: SourceKind
  readonly place: ImagePlace | null
  readonly onChange: (change: Partial<DraftTensor>) => void
}

function Source({ kind, place, input, row, first, onChange }: SourceProps) {
  if (kind === 'image' && place !== null)
    return <ImageField input={input} first={first} place={place} onChange={onChange} />
  const pad = kind === 'draw' ? placePad(row?.shape ?? input.shape, input.datatype) : null
  if (pad !== null) return <DrawField input={input} first={first} place={pad} onChange={onChange} />
  if (kind === 'audio') return <AudioField input={input} row={row} onChange={onChange} />
  return <ValuesField input={input} row={row} onChange={onChange} />
}

function FixButton({ problem, onFix }: { problem: InputProblem; onFix: (shape: readonly number[]) => void }) {
  const { fix } = problem
  if (fix === undefined) return null
  return (
    <Button size="small" onClick={() => onFix(fix.shape)}>
      {fix.title}
    </Button>
  )
}

function NpyButton({ input, onChange }: { input: DraftTensor; onChange: (change: Partial<DraftTensor>) => void }) {
  const picker = useRef<HTMLInputElement>(null)
  const [failure, setFailure] = useState<string | null>(null)
  const read = async (file: File) => {
    try {
      const array = parseNpy(new Uint8Array(await file.arrayBuffer()))
      onChange({ shape: array.shape, values: array.values, source: file.name })
      setFailure(null)
    } catch (error) {
      setFailure(`${file.name}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  return (
    <>
      <Button size="small" tone="quiet" title="NumPy array from a file" onClick={() => picker.current?.click()}>
        <FileUp aria-hidden /> .npy
      </Button>
      {failure !== null && (
        <span role="alert" className="text-xs text-bad">
          {failure}
        </span>
      )}
      <input
        ref={picker}
        type="file"
        hidden
        accept=".npy"
        aria-label={`NumPy file for ${input.name}`}
        onChange={(event) => {
          const file = event.target.files?.[0]
          event.target.value = ''
          if (file !== undefined) void read(file)
        }}
      />
    </>
  )
}
