import type { LiveFrame, LiveModel } from '@conch/server/schemas'
import { formatBytes, formatMicros, formatNumber } from '../../ui/format.ts'
import {
  busiestModels,
  buildSeries,
  chooseStep,
  nameModels,
  type Combine,
  type Line,
  type ReadFrame,
  type Series,
} from './series.ts'

export interface Panel {
  readonly title: string
  /** What the number means, for the hover. */
  readonly note: string
  readonly series: Series
  readonly format: (value: number) => string
  /** The chart is about requests: empty when there were none. */
  readonly needsTraffic: boolean
  /** The values count things. */
  readonly whole: boolean
}

interface View {
  readonly frames: readonly LiveFrame[]
  /** Empty = all models. */
  readonly model: string
  readonly seconds: number
  /** The right edge, in milliseconds. */
  readonly now: number
}

/** Models with a line of their own. */
const MOST_LINES = 6
const SHOWN_PLUS = 1

interface Draft {
  readonly title: string
  readonly note: string
  readonly combine: Combine
  readonly format: (value: number) => string
  readonly value: (row: LiveModel) => number | null
}

const PER_MODEL: readonly Draft[] = [
  {
    title: 'Requests',
    note: 'Answered requests a second',
    combine: 'mean',
    format: (value) => `${formatNumber(value)}/s`,
    value: (row) => row.rps,
  },
  {
    title: 'Latency p95',
    note: '95 % were answered within this time',
    combine: 'max',
    format: formatMicros,
    value: (row) => row.p95Us,
  },
  {
    title: 'Time in queue',
    note: 'Mean wait before an instance took the request',
    combine: 'mean',
    format: formatMicros,
    value: (row) => row.queueUs,
  },
  {
    title: 'Batch size',
    note: 'Mean rows of a batch',
    combine: 'mean',
    format: formatNumber,
    value: (row) => row.batch,
  },
  {
    title: 'Errors',
    note: 'Failed requests a second',
    combine: 'mean',
    format: (value) => `${formatNumber(value)}/s`,
    value: (row) => row.errors,
  },
  {
    title: 'Waiting',
    note: 'Requests in the queue',
    combine: 'max',
    format: formatNumber,
    value: (row) => row.pending,
  },
]

/** The charts of one moment. Everything that decides what is drawn happens here. */
export function buildPanels(view: View): Panel[] {
  const from = view.now - view.seconds * 1000
  const start = Math.max(
    0,
    view.frames.findIndex((frame) => frame.at >= from),
  )
  const frames = view.frames.slice(start)
  const chosen =
    view.model === ''
      ? frames
      : frames.map((frame) => ({ ...frame, models: frame.models.filter((row) => row.model === view.model) }))
  const step = chooseStep(view.seconds)
  const build = (lines: readonly Line[], read: ReadFrame, combine: Combine) =>
    buildSeries(chosen, { lines, read, combine, from, step })
  const name = nameModels(chosen)
  const lines = busiestModels(chosen, MOST_LINES).map((label) => ({ key: label, label }))
  const perModel = PER_MODEL.map((draft) => {
    const read: ReadFrame = (frame) => Object.fromEntries(frame.models.map((row) => [name(row), draft.value(row)]))
    return {
      title: draft.title,
      note: draft.note,
      format: draft.format,
      needsTraffic: true,
      whole: draft.title === 'Waiting',
      series: build(lines, read, draft.combine),
    }
  })
  if (view.model !== '') perModel.splice(SHOWN_PLUS, 1, buildPercentiles(build))
  return [...perModel, ...buildServerPanels(build)]
}

type Build = (lines: readonly Line[], read: ReadFrame, combine: Combine) => Series

const PERCENTILES = [
  { key: 'p50', label: 'p50' },
  { key: 'p95', label: 'p95' },
  { key: 'p99', label: 'p99' },
]

/** One model: all three percentiles; of several versions, the slowest. */
function buildPercentiles(build: Build): Panel {
  const worst = (values: readonly (number | null)[]) => {
    const known = values.filter((value) => value !== null)
    return known.length === 0 ? null : Math.max(...known)
  }
  const read: ReadFrame = ({ models }) => ({
    p50: worst(models.map((row) => row.p50Us)),
    p95: worst(models.map((row) => row.p95Us)),
    p99: worst(models.map((row) => row.p99Us)),
  })
  return {
    title: 'Latency',
    note: 'Percentiles of the time to answer',
    format: formatMicros,
    needsTraffic: true,
    whole: false,
    series: build(PERCENTILES, read, 'max'),
  }
}

function buildServerPanels(build: Build): Panel[] {
  const one = (label: string) => [{ key: label, label }]
  return [
    {
      title: 'CPU',
      note: 'Cores in use by the server’s process',
      format: (value) => `${formatNumber(value)} cores`,
      needsTraffic: false,
      whole: false,
      series: build(one('server'), ({ server }) => ({ server: server.cpu }), 'mean'),
    },
    {
      title: 'Memory',
      note: 'Resident memory, and the part that is JavaScript’s heap',
      format: formatBytes,
      needsTraffic: false,
      whole: false,
      series: build(
        [
          { key: 'resident', label: 'resident' },
          { key: 'heap', label: 'heap' },
        ],
        ({ server }) => ({ resident: server.rssBytes, heap: server.heapBytes }),
        'max',
      ),
    },
    {
      title: 'Event loop',
      note: '99 % of the server’s pauses were shorter',
      format: (value) => formatMicros(value * 1000),
      needsTraffic: false,
      whole: false,
      series: build(one('p99 pause'), ({ server }) => ({ 'p99 pause': server.eventLoopP99Ms }), 'max'),
    },
  ]
}
