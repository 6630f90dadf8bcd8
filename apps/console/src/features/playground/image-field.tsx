'use client'
import { ImageUp } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { cn } from '../../ui/cn.ts'
import { Check, Select } from '../../ui/field.tsx'
import { Notice } from '../../ui/message.tsx'
import { useDrop } from '../../ui/use-drop.ts'
import type { DraftTensor } from './draft.ts'
import { printNumbers } from './fill.ts'
import { guessPreset, normaliseImage, PRESETS, type ImagePlace } from './image.ts'
import { readPixels, type Fit } from './read-pixels.ts'

interface ImageFieldProps {
  readonly input: DraftTensor
  readonly first: DraftTensor | undefined
  readonly place: ImagePlace
  readonly onChange: (change: Partial<DraftTensor>) => void
}

/** A picture, resized and turned into numbers as the model wants them. */
export function ImageField({ input, first, place, onChange }: ImageFieldProps) {
  const [image, setImage] = useState<{ bitmap: ImageBitmap; name: string } | null>(null)
  const [preset, setPreset] = useState(() => guessPreset(first?.values ?? [], input.datatype))
  const [fit, setFit] = useState<Fit>('cover')
  const [invert, setInvert] = useState(false)
  const [failure, setFailure] = useState<string | null>(null)
  const send = useRef(onChange)
  useEffect(() => {
    send.current = onChange
  })
  const { datatype } = input
  const key = place.shape.join()
  useEffect(() => {
    const scale = PRESETS[preset]
    if (image === null || scale === undefined) return
    const pixels = readPixels(image.bitmap, { width: place.width, height: place.height, fit, invert })
    const numbers = normaliseImage(pixels, place, scale)
    send.current({ shape: place.shape, values: printNumbers(numbers, datatype), source: image.name })
    // The place is made anew at every drawing of the screen; its key tells when it really is another one.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [image, preset, fit, invert, key, datatype])
  const read = (file: File | undefined) => {
    if (file === undefined) return
    createImageBitmap(file).then(
      (bitmap) => {
        setFailure(null)
        setImage({ bitmap, name: file.name })
      },
      () => setFailure(`${file.name} is no picture that this browser can read.`),
    )
  }
  return (
    <div className="space-y-2">
      <Dropper image={image} place={place} onFile={read} />
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <ImageOptions preset={preset} onPreset={setPreset} fit={fit} onFit={setFit} />
        <Check label="Invert" checked={invert} onChange={(event) => setInvert(event.target.checked)} />
        <span className="text-xs text-mute">
          {place.layout === 'flat' ? 'grey' : place.layout} · {place.width} × {place.height}
        </span>
      </div>
      {failure !== null && <Notice tone="bad">{failure}</Notice>}
    </div>
  )
}

interface OptionsProps {
  readonly preset: string
  readonly onPreset: (preset: string) => void
  readonly fit: Fit
  readonly onFit: (fit: Fit) => void
}

function ImageOptions({ preset, onPreset, fit, onFit }: OptionsProps) {
  return (
    <>
      <Select
        aria-label="Scale of the values"
        className="h-7 text-xs"
        value={preset}
        onChange={(event) => onPreset(event.target.value)}
      >
        {Object.keys(PRESETS).map((name) => (
          <option key={name}>{name}</option>
        ))}
      </Select>
      <Select
        aria-label="How it fits"
        className="h-7 text-xs"
        value={fit}
        onChange={(event) => onFit(event.target.value as Fit)}
      >
        <option value="cover">Crop the middle</option>
        <option value="contain">Whole picture, with margins</option>
        <option value="fill">Stretch</option>
      </Select>
    </>
  )
}

interface DropperProps {
  readonly image: { readonly bitmap: ImageBitmap; readonly name: string } | null
  readonly place: ImagePlace
  readonly onFile: (file: File | undefined) => void
}

function Dropper({ image, place, onFile }: DropperProps) {
  const picker = useRef<HTMLInputElement>(null)
  const { over, zone } = useDrop((transfer) => onFile(transfer.files[0]))
  return (
    <div
      {...zone}
      className={cn(
        'flex items-center gap-3 rounded-md border border-dashed border-edge p-2',
        over && 'border-accent bg-accent-wash',
      )}
    >
      {image === null ? (
        <span className="flex size-20 shrink-0 items-center justify-center rounded bg-hover text-mute">
          <ImageUp className="size-6" aria-hidden />
        </span>
      ) : (
        <Preview bitmap={image.bitmap} place={place} />
      )}
      <div className="min-w-0">
        <p className="truncate">{image === null ? 'Drop a picture here, or' : image.name}</p>
        {image !== null && (
          <p className="text-xs text-mute">
            {image.bitmap.width} × {image.bitmap.height} → {place.width} × {place.height}
          </p>
        )}
        <Button size="small" className="mt-1" onClick={() => picker.current?.click()}>
          {image === null ? 'Choose one' : 'Choose another'}
        </Button>
      </div>
      <input
        ref={picker}
        type="file"
        accept="image/*"
        hidden
        aria-label="Picture"
        onChange={(event) => onFile(event.target.files?.[0])}
      />
    </div>
  )
}

function Preview({ bitmap, place }: { bitmap: ImageBitmap; place: ImagePlace }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const { width, height } = place
  useEffect(() => {
    const context = canvas.current?.getContext('2d')
    if (!context) return
    const image = new ImageData(readPixels(bitmap, { width, height, fit: 'cover', invert: false }), width, height)
    context.putImageData(image, 0, 0)
  }, [bitmap, width, height])
  return (
    <canvas
      ref={canvas}
      width={width}
      height={height}
      aria-label="The picture as the model sees it"
      role="img"
      className="size-20 shrink-0 rounded object-contain"
    />
  )
}
