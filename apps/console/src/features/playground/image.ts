import type { Datatype } from '@conch/protocol'

export type Layout = 'NCHW' | 'NHWC' | 'flat'

/** How a picture lies in an input. */
export interface ImagePlace {
  readonly layout: Layout
  readonly channels: number
  readonly height: number
  readonly width: number
  /** The full shape with a batch of one. */
  readonly shape: readonly number[]
}

/** A side that the model leaves open. */
const OPEN_SIDE = 224
const CHANNELS = new Set([1, 3, 4])
const SMALLEST_FLAT_SIDE = 8
const LARGEST_SIDE = 4096

/** Guesses from a model's shape where a picture would go; null when none fits. `open`: size of a side that may be any. */
export function placeImage(shape: readonly number[], datatype: Datatype, open = OPEN_SIDE): ImagePlace | null {
  if (datatype === 'BYTES' || datatype === 'BOOL') return null
  const dims = shape.map((dim, index) => (dim === -1 && index === 0 && shape.length !== 3 ? 1 : dim))
  const place = placePlanes(dims, open) ?? placeFlat(dims)
  if (place === null || place.height > LARGEST_SIDE || place.width > LARGEST_SIDE) return null
  return place
}

function placePlanes(dims: readonly number[], open: number): ImagePlace | null {
  const lead = dims.length === 4 ? dims.slice(0, 1) : []
  const planes = dims.slice(lead.length)
  if (planes.length !== 3 || (lead[0] ?? 1) !== 1) return null
  // Height, width and channels are all open: grey is the least that can be meant.
  if (planes.every((dim) => dim === -1)) return make('NHWC', { channels: 1, height: open, width: open }, lead)
  const placed = placeChannels(planes, lead, open)
  return placed ?? (dims.length === 3 ? placeGrey(planes) : null)
}

function placeChannels(
  [a = 0, b = 0, c = 0]: readonly number[],
  lead: readonly number[],
  open: number,
): ImagePlace | null {
  const side = (dim: number) => (dim === -1 ? open : dim)
  if (CHANNELS.has(a) && isSide(b) && isSide(c))
    return make('NCHW', { channels: a, height: side(b), width: side(c) }, lead)
  if (CHANNELS.has(c) && isSide(a) && isSide(b))
    return make('NHWC', { channels: c, height: side(a), width: side(b) }, lead)
  return null
}

/** [N, H, W] without channels. */
function placeGrey([batch = 0, height = 0, width = 0]: readonly number[]): ImagePlace | null {
  if ((batch !== -1 && batch !== 1) || height <= 1 || width <= 1) return null
  return { layout: 'flat', channels: 1, height, width, shape: [1, height, width] }
}

function placeFlat(dims: readonly number[]): ImagePlace | null {
  const last = dims.at(-1) ?? 0
  const root = Math.sqrt(last)
  if (dims.length > 2 || dims.slice(0, -1).some((dim) => dim !== 1)) return null
  if (!Number.isInteger(root) || root < SMALLEST_FLAT_SIDE) return null
  return { layout: 'flat', channels: 1, height: root, width: root, shape: [...dims] }
}

const isSide = (dim: number) => dim === -1 || dim > 1

function make(
  layout: 'NCHW' | 'NHWC',
  size: Pick<ImagePlace, 'channels' | 'height' | 'width'>,
  lead: readonly number[],
): ImagePlace {
  const { channels, height, width } = size
  const planes = layout === 'NCHW' ? [channels, height, width] : [height, width, channels]
  return { layout, ...size, shape: [...lead, ...planes] }
}

/** What happens to a channel's value, 0 … 255, on its way into the tensor. */
export interface Normalisation {
  /** 255 becomes this (before mean and deviation). */
  readonly scale: number
  /** Per channel, in units of the scaled value. */
  readonly mean: readonly number[]
  readonly deviation: readonly number[]
}

export const PRESETS: Readonly<Record<string, Normalisation>> = {
  '0 … 1': { scale: 1, mean: [0], deviation: [1] },
  '0 … 255': { scale: 255, mean: [0], deviation: [1] },
  '−1 … 1': { scale: 1, mean: [0.5], deviation: [0.5] },
  '0 … 16': { scale: 16, mean: [0], deviation: [1] },
  ImageNet: { scale: 1, mean: [0.485, 0.456, 0.406], deviation: [0.229, 0.224, 0.225] },
}

/** Chooses the preset from example values: what the model was shown before tells its scale. */
export function guessPreset(values: readonly string[], datatype: Datatype): string {
  if (datatype === 'UINT8') return '0 … 255'
  const numbers = values.slice(0, 5000).map(Number)
  const most = numbers.reduce((max, value) => Math.max(max, value), 0)
  const least = numbers.reduce((min, value) => Math.min(min, value), 0)
  if (least < -1.05 && most < 5) return 'ImageNet'
  if (least < 0 && most <= 1) return '−1 … 1'
  if (most > 16) return '0 … 255'
  return most > 1.001 ? '0 … 16' : '0 … 1'
}

/** Turns pixels (RGBA, already of the place's size) into the tensor's numbers. */
export function normaliseImage(
  rgba: ArrayLike<number>,
  place: ImagePlace,
  { scale, mean, deviation }: Normalisation,
): Float32Array {
  const { layout, channels, height, width } = place
  const pixels = height * width
  const out = new Float32Array(pixels * channels)
  for (let pixel = 0; pixel < pixels; pixel += 1) {
    for (let channel = 0; channel < channels; channel += 1) {
      const raw = channels === 1 ? readGrey(rgba, pixel) : (rgba[pixel * 4 + channel] ?? 0)
      const value = ((raw / 255) * scale - (mean[channel] ?? mean[0] ?? 0)) / (deviation[channel] ?? deviation[0] ?? 1)
      out[layout === 'NCHW' ? channel * pixels + pixel : pixel * channels + channel] = value
    }
  }
  return out
}

/** Luma of ITU-R BT.601, as Pillow's `convert("L")`. */
function readGrey(rgba: ArrayLike<number>, pixel: number): number {
  const at = pixel * 4
  return Math.round(((rgba[at] ?? 0) * 299 + (rgba[at + 1] ?? 0) * 587 + (rgba[at + 2] ?? 0) * 114) / 1000)
}
