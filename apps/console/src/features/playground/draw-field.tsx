'use client'
import { Eraser } from 'lucide-react'
import { useCallback, useEffect, useRef, useState, type PointerEvent, type RefObject } from 'react'
import { Button } from '../../ui/button.tsx'
import { Select } from '../../ui/field.tsx'
import type { DraftTensor } from './draft.ts'
import { shrinkDrawing } from './drawing.ts'
import { printNumbers } from './fill.ts'
import { guessPreset, PRESETS, type ImagePlace } from './image.ts'

interface DrawFieldProps {
  readonly input: DraftTensor
  readonly first: DraftTensor | undefined
  readonly place: ImagePlace
  readonly onChange: (change: Partial<DraftTensor>) => void
}

/** Side of the pad and width of its pen, in its own pixels. */
const SIDE = 224
const PEN = 20

/** A pad to draw a digit on; what is drawn is centred and shrunk to the model's size. */
export function DrawField({ input, first, place, onChange }: DrawFieldProps) {
  const pad = useRef<HTMLCanvasElement>(null)
  const [preset, setPreset] = useState(() => guessPreset(first?.values ?? [], input.datatype))
  const read = useCallback(
    (name: string) => {
      const canvas = pad.current
      const scale = PRESETS[name]
      if (canvas === null || scale === undefined) return
      const small = shrinkDrawing({ side: SIDE, ink: readInk(canvas) }, place)
      const [mean = 0] = scale.mean
      const [deviation = 1] = scale.deviation
      const numbers = small.map((value) => (value * scale.scale - mean) / deviation)
      onChange({ shape: place.shape, values: printNumbers(numbers, input.datatype), source: 'the pad' })
    },
    [place, input.datatype, onChange],
  )
  const clear = () => {
    pad.current?.getContext('2d')?.clearRect(0, 0, SIDE, SIDE)
    read(preset)
  }
  return (
    <div className="flex flex-wrap items-start gap-4">
      <Pad canvas={pad} hint={input.source !== 'the pad'} onStroke={() => read(preset)} />
      <div className="space-y-2">
        <p className="text-xs text-mute">
          As the model sees it, {place.width} × {place.height}:
        </p>
        <Pixels values={input.values} place={place} />
        <div className="flex items-center gap-2">
          <Button size="small" onClick={clear}>
            <Eraser aria-hidden /> Clear
          </Button>
          <Select
            aria-label="Scale of the values"
            className="h-7 text-xs"
            value={preset}
            onChange={(event) => {
              setPreset(event.target.value)
              if (input.source === 'the pad') read(event.target.value)
            }}
          >
            {Object.keys(PRESETS)
              .filter((name) => name !== 'ImageNet')
              .map((name) => (
                <option key={name}>{name}</option>
              ))}
          </Select>
        </div>
      </div>
    </div>
  )
}

/** How much ink there is, 0 … 1, whatever colour the theme gives it. */
function readInk(canvas: HTMLCanvasElement): Float32Array {
  const data = canvas.getContext('2d', { willReadFrequently: true })?.getImageData(0, 0, SIDE, SIDE).data
  return Float32Array.from({ length: SIDE * SIDE }, (_, index) => (data?.[index * 4 + 3] ?? 0) / 255)
}

interface PadProps {
  readonly canvas: RefObject<HTMLCanvasElement | null>
  /** Nothing was drawn yet. */
  readonly hint: boolean
  readonly onStroke: () => void
}

function Pad({ canvas, hint, onStroke }: PadProps) {
  const from = useRef<{ x: number; y: number } | null>(null)
  const at = (event: PointerEvent<HTMLCanvasElement>) => {
    const box = event.currentTarget.getBoundingClientRect()
    return { x: ((event.clientX - box.left) / box.width) * SIDE, y: ((event.clientY - box.top) / box.height) * SIDE }
  }
  const draw = (event: PointerEvent<HTMLCanvasElement>) => {
    const context = canvas.current?.getContext('2d', { willReadFrequently: true })
    if (!context || from.current === null) return
    const to = at(event)
    context.strokeStyle = getComputedStyle(event.currentTarget).color
    context.lineWidth = PEN
    context.lineCap = 'round'
    context.lineJoin = 'round'
    context.beginPath()
    context.moveTo(from.current.x, from.current.y)
    context.lineTo(to.x + 0.01, to.y)
    context.stroke()
    from.current = to
  }
  const stop = () => {
    if (from.current === null) return
    from.current = null
    onStroke()
  }
  return (
    <div className="relative rounded-md bg-panel">
      {hint && (
        <span className="pointer-events-none absolute inset-0 flex items-center justify-center text-mute">
          Draw here
        </span>
      )}
      <canvas
        ref={canvas}
        width={SIDE}
        height={SIDE}
        role="img"
        aria-label="Pad to draw on with a pointer; with the keyboard use Values or a sample instead"
        data-testid="pad"
        className="size-44 cursor-crosshair touch-none rounded-md border border-edge text-ink"
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId)
          from.current = at(event)
          draw(event)
        }}
        onPointerMove={draw}
        onPointerUp={stop}
        onPointerCancel={stop}
      />
    </div>
  )
}

/** The values as grey squares. */
function Pixels({ values, place }: { values: readonly string[]; place: ImagePlace }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const { width, height } = place
  useEffect(() => {
    const context = canvas.current?.getContext('2d')
    if (!context) return
    const numbers = values.slice(0, width * height).map(Number)
    const most = Math.max(1e-6, ...numbers)
    const image = context.createImageData(width, height)
    for (const [index, value] of numbers.entries()) {
      const grey = 255 - Math.max(0, Math.min(1, value / most)) * 255
      image.data.set([grey, grey, grey, 255], index * 4)
    }
    context.putImageData(image, 0, 0)
  }, [values, width, height])
  return (
    <canvas
      ref={canvas}
      width={width}
      height={height}
      role="img"
      aria-label="The values as a picture"
      className="size-28 rounded border border-line"
      style={{ imageRendering: 'pixelated' }}
    />
  )
}
