import type { LiveFrame, LiveModel } from '@conch/server/schemas'

/** One line of a chart. */
export interface Line {
  readonly key: string
  readonly label: string
}
/** One moment: `at` in milliseconds, and every line's value; null draws a gap. */
export type Point = { readonly at: number } & { readonly [key: string]: number | null }
export interface Series {
  readonly lines: readonly Line[]
  readonly points: readonly Point[]
}

export type Combine = 'mean' | 'max' | 'sum'
/** How a value is read from a frame, per line; an absent key is a gap. */
export type ReadFrame = (frame: LiveFrame) => Readonly<Record<string, number | null>>

interface SeriesOptions {
  readonly lines: readonly Line[]
  readonly read: ReadFrame
  readonly combine: Combine
  /** Milliseconds; frames before it are left out. */
  readonly from: number
  /** Milliseconds of one point; frames that fall into the same step become one. */
  readonly step: number
}

/** Frames come once a second; a longer silence is a gap and is drawn as one. */
export const GAP_MS = 2500
/** Points of a line: more than a chart of this size can show are work for nothing. */
const MOST_POINTS = 180

/** The width of a point so that a window of `seconds` has a bounded number of them. */
export function chooseStep(seconds: number): number {
  return Math.ceil(seconds / MOST_POINTS) * 1000
}

export function buildSeries(frames: readonly LiveFrame[], options: SeriesOptions): Series {
  const { lines, read, combine, from, step } = options
  const points: Point[] = []
  let bucket: LiveFrame[] = []
  let last = 0
  const flush = () => {
    const first = bucket[0]
    if (first === undefined) return
    points.push(combineFrames(bucket, { lines, read, combine, at: Math.floor(first.at / step) * step }))
    bucket = []
  }
  for (const frame of frames) {
    if (frame.at < from) continue
    const gap = last > 0 && frame.at - last > Math.max(GAP_MS, step)
    const next = bucket[0] !== undefined && Math.floor(bucket[0].at / step) !== Math.floor(frame.at / step)
    if (gap || next) flush()
    if (gap) points.push(emptyPoint(last + 1000, lines))
    bucket.push(frame)
    last = frame.at
  }
  flush()
  return { lines, points }
}

function emptyPoint(at: number, lines: readonly Line[]): Point {
  return { ...Object.fromEntries(lines.map((line) => [line.key, null])), at } as Point
}

interface CombineOptions extends Pick<SeriesOptions, 'lines' | 'read' | 'combine'> {
  readonly at: number
}

function combineFrames(bucket: readonly LiveFrame[], { lines, read, combine, at }: CombineOptions): Point {
  const values = bucket.map(read)
  const entries = lines.map(({ key }) => {
    const known = values.map((value) => value[key]).filter((value) => typeof value === 'number')
    return [key, combineValues(known, combine)] as const
  })
  return { ...Object.fromEntries(entries), at } as Point
}

function combineValues(values: readonly number[], combine: Combine): number | null {
  if (values.length === 0) return null
  if (combine === 'max') return Math.max(...values)
  const sum = values.reduce((total, value) => total + value, 0)
  return combine === 'sum' ? sum : sum / values.length
}

/** The last known value of every line that is not older than a few seconds. */
export function lastValues({ lines, points }: Series): Readonly<Record<string, number | null>> {
  const last = points.at(-1)
  return Object.fromEntries(lines.map((line) => [line.key, last?.[line.key] ?? null]))
}

/** How a model is called in a chart: with its version only where several of them answer. */
export function nameModels(frames: readonly LiveFrame[]): (row: LiveModel) => string {
  const versions = new Map<string, Set<string>>()
  for (const frame of frames) {
    for (const row of frame.models) {
      const known = versions.get(row.model) ?? new Set()
      versions.set(row.model, known.add(row.version))
    }
  }
  return (row) => ((versions.get(row.model)?.size ?? 0) > 1 ? `${row.model} v${row.version}` : row.model)
}

/** The busiest models of the frames, by requests; ties by name. */
export function busiestModels(frames: readonly LiveFrame[], most: number): string[] {
  const name = nameModels(frames)
  const totals = new Map<string, number>()
  for (const frame of frames) {
    for (const row of frame.models) {
      const key = name(row)
      totals.set(key, (totals.get(key) ?? 0) + row.rps + row.pending + row.errors)
    }
  }
  return [...totals]
    .filter(([, total]) => total > 0)
    .sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]))
    .slice(0, most)
    .map(([key]) => key)
}
