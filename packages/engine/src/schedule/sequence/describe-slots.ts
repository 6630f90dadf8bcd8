import type { SequenceSlots, SlotView } from '../contract.ts'
import type { Lanes } from './lanes.ts'
import type { Sequence } from './sequence.ts'

/** Sequences of the backlog that are described. */
const SHOWN = 100

export function describeSlots(lanes: Lanes, backlog: ReadonlySet<Sequence>, maxIdle: number): SequenceSlots {
  const now = performance.now()
  const instances = [...lanes.all].map((lane) => ({
    name: lane.instance.name,
    busy: lanes.isBusy(lane),
    slots: lane.places.map(({ index, holder }) => {
      return { index, running: holder?.running !== undefined, ...describe(holder, now) }
    }),
  }))
  const waiting = [...backlog].slice(0, SHOWN).map((sequence) => describe(sequence, now))
  const { name: strategy, slots: slotsPerInstance } = lanes.strategy
  return { strategy, maxIdle, slotsPerInstance, instances, backlog: waiting, backlogSize: backlog.size }
}

function describe(sequence: Sequence | undefined, now: number): Omit<SlotView, 'index' | 'running'> {
  if (sequence === undefined) return { sequence: undefined, waiting: 0, served: 0, idle: 0, stateBytes: 0 }
  const { id, queue, served, lastAt, states } = sequence
  return {
    sequence: String(id),
    waiting: queue.length,
    served,
    idle: now - lastAt,
    stateBytes: states.reduce((sum, { data }) => sum + data.byteLength, 0),
  }
}
