import type { Panel } from './panels.ts'

interface Circumstances {
  readonly model: string
  readonly seconds: number
  readonly paused: boolean
  readonly lost: boolean
}

/** Why a chart is empty, in words; null when it is not. */
export function explainSilence(
  { series, needsTraffic }: Pick<Panel, 'series' | 'needsTraffic'>,
  now: Circumstances,
): string | null {
  const known = series.points.some((point) => series.lines.some((line) => typeof point[line.key] === 'number'))
  if (known) return null
  if (now.lost) return 'No data: the connection to the server is lost.'
  if (series.points.length === 0) return 'No data in this window yet.'
  if (!needsTraffic) return 'The server does not report this.'
  const whom = now.model === '' ? 'No model' : `“${now.model}”`
  return `${whom} was${now.model === '' ? '' : ' not'} asked in the last ${now.seconds / 60} min.`
}
