import type { ModelConfig, Tensor } from '@conch/protocol'
import { pickBatch } from '../pick-batch.ts'
import { chooseFit } from '../same-inputs.ts'
import { pickSlots } from './direct.ts'
import type { DirectDecision } from './direct.ts'
import type { Sequence, Turn } from './sequence.ts'
import type { Lane } from './slots.ts'
import type { States } from './states.ts'

export interface Strategy {
  readonly name: 'direct' | 'oldest'
  /** Slots of each instance. */
  readonly slots: number
  /** What an idle instance runs next. Milliseconds on the `performance.now()` clock. */
  pick(lane: Lane<Sequence>, now: number): DirectDecision<Turn>
}

/** Neither named = direct (sequence §3). */
export function chooseStrategy(config: ModelConfig, states: States): Strategy {
  return config.sequence_batching?.oldest === undefined ? createDirect(config, states) : createOldest(config, states)
}

function createDirect(config: ModelConfig, states: States): Strategy {
  const slots = Math.max(1, config.max_batch_size)
  const direct = config.sequence_batching?.direct
  const limits = {
    maxDelay: toMilliseconds(direct?.max_queue_delay_microseconds),
    enough: (direct?.minimum_slot_utilization ?? 0) * slots,
    fits: slots === 1 ? undefined : chooseTurnFit(config, states),
  }
  return {
    name: 'direct',
    slots,
    pick: ({ places }, now) =>
      pickSlots(
        places.map(({ holder }) => holder?.queue[0]),
        limits,
        now,
      ),
  }
}

interface Candidate {
  readonly turn: Turn
  readonly rows: 1
  readonly arrivedAt: number
}

/** Dynamic batches of the first requests of all sequences, those first that became the first of theirs earliest. */
function createOldest(config: ModelConfig, states: States): Strategy {
  const oldest = config.sequence_batching?.oldest
  const most = Math.max(1, config.max_batch_size)
  const fits = most === 1 ? undefined : chooseTurnFit(config, states)
  const limits = {
    maxRows: most,
    preferredRows: new Set(config.max_batch_size > 0 ? oldest?.preferred_batch_size : []),
    maxDelay: toMilliseconds(oldest?.max_queue_delay_microseconds),
    fits: fits && ((first: Candidate, next: Candidate) => fits(first.turn, next.turn)),
  }
  const asked = oldest?.max_candidate_sequences ?? 0
  return {
    name: 'oldest',
    slots: asked > 0 ? asked : most,
    pick: ({ places }, now) => {
      const candidates: Candidate[] = []
      for (const { holder } of places) {
        const turn = holder?.queue[0]
        if (turn !== undefined) candidates.push({ turn, rows: 1, arrivedAt: turn.sequence.readyAt })
      }
      candidates.sort((a, b) => a.arrivedAt - b.arrivedAt || a.turn.order - b.turn.order)
      const decision = pickBatch(candidates, limits, now)
      return 'take' in decision ? { run: candidates.slice(0, decision.take).map(({ turn }) => turn) } : decision
    },
  }
}

function chooseTurnFit(config: ModelConfig, states: States): ((first: Turn, next: Turn) => boolean) | undefined {
  const fits = chooseFit(config)
  if (!states.vary) return fits
  return (first, next) => {
    return hasSameShapes(states.before(first), states.before(next)) && (fits === undefined || fits(first, next))
  }
}

function hasSameShapes(a: readonly Tensor[], b: readonly Tensor[]): boolean {
  return a.every(({ shape }, index) => shape.join() === b[index]?.shape.join())
}

function toMilliseconds(microseconds: bigint | undefined): number {
  return Number(microseconds ?? 0n) / 1_000
}
