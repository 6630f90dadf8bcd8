/** A square grey picture, 0 (paper) … 1 (ink), row by row. */
export interface Drawing {
  readonly side: number
  readonly ink: Float32Array
}

/** Part of the target that the strokes fill; the rest is margin, as in the sets that digit models learn from. */
const FILL = 0.92
const VISIBLE = 0.05

/** Crops the strokes, centres them and shrinks them by area to `height` × `width`: each value is the mean of what it covers. */
export function shrinkDrawing(
  { side, ink }: Drawing,
  { height, width }: { height: number; width: number },
): Float32Array {
  const out = new Float32Array(height * width)
  const box = findBox(side, ink)
  if (box === null) return out
  const scale = Math.max(box.width / (width * FILL), box.height / (height * FILL))
  const left = box.left + box.width / 2 - (width * scale) / 2
  const top = box.top + box.height / 2 - (height * scale) / 2
  for (let row = 0; row < height; row += 1) {
    for (let column = 0; column < width; column += 1) {
      const area = { left: left + column * scale, top: top + row * scale, size: scale }
      out[row * width + column] = meanInk(side, ink, area)
    }
  }
  return out
}

interface Box {
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
}

function findBox(side: number, ink: Float32Array): Box | null {
  let left = side
  let right = -1
  let top = side
  let bottom = -1
  for (const [index, value] of ink.entries()) {
    if (value < VISIBLE) continue
    const x = index % side
    const y = Math.floor(index / side)
    left = Math.min(left, x)
    right = Math.max(right, x)
    top = Math.min(top, y)
    bottom = Math.max(bottom, y)
  }
  return right < 0 ? null : { left, top, width: right - left + 1, height: bottom - top + 1 }
}

function meanInk(side: number, ink: Float32Array, area: { left: number; top: number; size: number }): number {
  const x0 = Math.floor(area.left)
  const y0 = Math.floor(area.top)
  const x1 = Math.max(x0 + 1, Math.floor(area.left + area.size))
  const y1 = Math.max(y0 + 1, Math.floor(area.top + area.size))
  let sum = 0
  for (let y = y0; y < y1; y += 1) {
    for (let x = x0; x < x1; x += 1) {
      if (x >= 0 && y >= 0 && x < side && y < side) sum += ink[y * side + x] ?? 0
    }
  }
  return sum / ((x1 - x0) * (y1 - y0))
}
