'use client'
import type { TensorRow } from '@conch/server/schemas'
import { AudioLines } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Select } from '../../ui/field.tsx'
import { formatCount } from '../../ui/format.ts'
import { Notice } from '../../ui/message.tsx'
import { cutSamples, findLoudest, scaleSamples, type AudioClip } from './audio.ts'
import { decodeAudio } from './decode-audio.ts'
import type { DraftTensor } from './draft.ts'
import { printNumbers } from './fill.ts'

interface AudioFieldProps {
  readonly input: DraftTensor
  readonly row: TensorRow | undefined
  readonly onChange: (change: Partial<DraftTensor>) => void
}

const RATES = [8000, 16_000, 22_050, 44_100, 48_000]
/** An open length takes this many seconds at most. */
const MOST_SECONDS = 30

/** A recording, mixed to one channel and brought to the model's rate. */
export function AudioField({ input, row, onChange }: AudioFieldProps) {
  const picker = useRef<HTMLInputElement>(null)
  const [file, setFile] = useState<File | null>(null)
  const [rate, setRate] = useState(16_000)
  const wanted = row?.shape.at(-1) ?? -1
  const { clip, start, setStart, failure } = useClip(file, { rate, wanted })
  const length = wanted === -1 ? Math.min(clip?.samples.length ?? 0, MOST_SECONDS * rate) : wanted
  const send = useRef(onChange)
  useEffect(() => {
    send.current = onChange
  })
  const { datatype } = input
  const rank = row?.shape.length ?? 2
  useEffect(() => {
    if (clip === null || file === null) return
    const samples = scaleSamples(cutSamples(clip.samples, start, length), datatype)
    const lead = Array.from({ length: rank - 1 }, () => 1)
    send.current({ shape: [...lead, samples.length], values: printNumbers(samples, datatype), source: file.name })
  }, [clip, file, start, length, datatype, rank])
  return (
    <div className="space-y-2">
      <div className="flex flex-wrap items-center gap-2">
        <Button onClick={() => picker.current?.click()}>
          <AudioLines aria-hidden /> {file === null ? 'Choose a recording' : 'Choose another'}
        </Button>
        <Select
          aria-label="Samples a second"
          className="h-7 text-xs"
          value={rate}
          onChange={(event) => setRate(Number(event.target.value))}
        >
          {RATES.map((each) => (
            <option key={each} value={each}>
              {formatCount(each)} Hz
            </option>
          ))}
        </Select>
        {file !== null && <span className="min-w-0 truncate text-soft">{file.name}</span>}
      </div>
      {clip !== null && <Wave clip={clip} start={start} length={length} onStart={setStart} />}
      {failure !== null && <Notice tone="bad">{failure}</Notice>}
      <input
        ref={picker}
        type="file"
        accept="audio/*"
        hidden
        aria-label="Recording"
        onChange={(event) => setFile(event.target.files?.[0] ?? null)}
      />
    </div>
  )
}

/** The decoded recording, and where in it the model begins to listen: at first where it is loudest. */
function useClip(file: File | null, { rate, wanted }: { rate: number; wanted: number }) {
  const [clip, setClip] = useState<AudioClip | null>(null)
  const [start, setStart] = useState(0)
  const [failure, setFailure] = useState<string | null>(null)
  useEffect(() => {
    if (file === null) return
    decodeAudio(file, rate).then(
      (decoded) => {
        setFailure(null)
        setClip(decoded)
        setStart(findLoudest(decoded.samples, wanted === -1 ? 0 : wanted))
      },
      () => setFailure(`${file.name} is no sound that this browser can read.`),
    )
  }, [file, rate, wanted])
  return { clip, start, setStart, failure }
}

interface WaveProps {
  readonly clip: AudioClip
  readonly start: number
  readonly length: number
  readonly onStart: (start: number) => void
}

const BARS = 160

function Wave({ clip, start, length, onStart }: WaveProps) {
  const { samples, rate } = clip
  const step = Math.max(1, Math.floor(samples.length / BARS))
  const peaks = Array.from({ length: Math.min(BARS, samples.length) }, (_, bar) => {
    let most = 0
    for (let at = bar * step; at < (bar + 1) * step; at += 8) most = Math.max(most, Math.abs(samples[at] ?? 0))
    return most
  })
  const inside = (bar: number) => bar * step < start + length && (bar + 1) * step > start
  return (
    <div>
      <svg
        viewBox={`0 0 ${BARS} 40`}
        preserveAspectRatio="none"
        className="h-12 w-full rounded bg-hover"
        role="img"
        aria-label="The recording"
      >
        {peaks.map((peak, bar) => (
          <rect
            key={bar}
            x={bar}
            width={0.7}
            y={20 - peak * 19}
            height={Math.max(0.5, peak * 38)}
            fill={inside(bar) ? 'var(--accent)' : 'var(--edge)'}
          />
        ))}
      </svg>
      <label className="mt-1 flex items-center gap-2 text-xs text-mute">
        From
        <input
          type="range"
          className="flex-1 accent-(--accent-fill)"
          min={0}
          max={Math.max(0, samples.length - length)}
          value={start}
          onChange={(event) => onStart(Number(event.target.value))}
        />
        <span className="tabular-nums">
          {(start / rate).toFixed(2)} s, {formatCount(length)} samples ({(length / rate).toFixed(2)} s)
        </span>
      </label>
    </div>
  )
}
