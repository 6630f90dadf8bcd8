export type Fit = 'cover' | 'contain' | 'fill'

interface PixelOptions {
  readonly width: number
  readonly height: number
  readonly fit: Fit
  readonly invert: boolean
}

/** Draws a picture at a size and reads its pixels as RGBA. Transparent parts become white, as on paper. */
export function readPixels(
  bitmap: ImageBitmap,
  { width, height, fit, invert }: PixelOptions,
): Uint8ClampedArray<ArrayBuffer> {
  const canvas = document.createElement('canvas')
  canvas.width = width
  canvas.height = height
  const context = canvas.getContext('2d', { willReadFrequently: true })
  if (context === null) throw new Error('This browser gives no canvas.')
  context.fillStyle = '#fff'
  context.fillRect(0, 0, width, height)
  context.imageSmoothingQuality = 'high'
  const { x, y, w, h } = placeInside({ width: bitmap.width, height: bitmap.height }, { width, height }, fit)
  context.drawImage(bitmap, x, y, w, h)
  const { data } = context.getImageData(0, 0, width, height)
  return invert ? data.map((value, index) => (index % 4 === 3 ? value : 255 - value)) : data
}

interface Size {
  readonly width: number
  readonly height: number
}

/** Where a picture of one size goes in a frame of another. */
export function placeInside(from: Size, to: Size, fit: Fit): { x: number; y: number; w: number; h: number } {
  if (fit === 'fill') return { x: 0, y: 0, w: to.width, h: to.height }
  const ratios = [to.width / from.width, to.height / from.height]
  const scale = fit === 'cover' ? Math.max(...ratios) : Math.min(...ratios)
  const w = from.width * scale
  const h = from.height * scale
  return { x: (to.width - w) / 2, y: (to.height - h) / 2, w, h }
}
