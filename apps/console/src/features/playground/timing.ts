import type { StageTimes } from '@conch/server/schemas'

export interface TimingPart {
  readonly label: string
  readonly us: number
  /** A CSS colour. */
  readonly colour: string
}

/** The stages of one request, from the click to the answer; what the server does not name is the way there and back. */
export function splitTiming(timing: StageTimes, clientMs: number): TimingPart[] {
  const { queueUs, inputUs, inferUs, outputUs, totalUs } = timing
  const named = queueUs + inputUs + inferUs + outputUs
  const parts = [
    { label: 'Queue', us: queueUs, colour: 'var(--series-2)' },
    { label: 'Input', us: inputUs, colour: 'var(--series-5)' },
    { label: 'Inference', us: inferUs, colour: 'var(--series-1)' },
    { label: 'Output', us: outputUs, colour: 'var(--series-4)' },
    { label: 'Server, other', us: Math.max(0, totalUs - named), colour: 'var(--edge)' },
    { label: 'Browser and network', us: Math.max(0, clientMs * 1000 - totalUs), colour: 'var(--line)' },
  ]
  return parts.map((part) => ({ ...part, us: Math.max(0, part.us) }))
}
