import type { InstancePool } from '../../instance/contract.ts'
import type { Deadline, Deadlines } from '../deadlines.ts'
import type { BatchRunner } from '../run-batch.ts'
import type { Controls, Signals } from './controls.ts'
import type { Sequence, Turn } from './sequence.ts'
import { Slots } from './slots.ts'
import type { Lane } from './slots.ts'
import type { States } from './states.ts'
import { Filler, Step } from './step.ts'
import type { Strategy } from './strategy.ts'

export interface LanesParts {
  readonly pool: InstancePool
  readonly deadlines: Deadlines
  readonly strategy: Strategy
  readonly states: States
  readonly controls: Controls
  /** Outputs that a client may see. */
  readonly visible: ReadonlySet<string>
  readonly runner: BatchRunner
  /** Called when a request leaves its queue to be run. */
  readonly onTake: (turn: Turn) => void
}

const FILLER: Signals = { start: false, end: false, ready: false }

/** The instances with the sequences that hold their slots: each runs one batch at a time of what its own slots have. */
export class Lanes {
  readonly strategy: Strategy
  readonly #parts: LanesParts
  readonly #slots: Slots<Sequence>
  readonly #busy = new Set<Lane<Sequence>>()
  /** When an instance that waits for more is to stop waiting. */
  readonly #wakes = new Map<Lane<Sequence>, Deadline>()
  readonly #noId
  #pumping = false
  #again = false

  constructor(parts: LanesParts) {
    this.#parts = parts
    this.strategy = parts.strategy
    this.#slots = new Slots(parts.pool, parts.strategy.slots)
    this.#noId = parts.controls.makeId(0n)
  }

  get all(): Iterable<Lane<Sequence>> {
    return this.#slots.lanes
  }

  isBusy(lane: Lane<Sequence>): boolean {
    return this.#busy.has(lane)
  }

  follow(): void {
    this.#slots.follow()
  }

  /** False when every slot is held. */
  seat(sequence: Sequence): boolean {
    const place = this.#slots.take(sequence)
    if (place === undefined) return false
    sequence.place = place
    sequence.readyAt = performance.now()
    return true
  }

  unseat(sequence: Sequence): void {
    if (sequence.place === undefined) return
    this.#slots.release(sequence.place)
    sequence.place = undefined
  }

  /** Starts whatever can run. Not re-entered: a batch that is answered at once ends within the loop. */
  run(): void {
    this.#again = true
    if (this.#pumping) return
    this.#pumping = true
    while (this.#again) {
      this.#again = false
      for (const lane of this.#slots.lanes) this.#runNext(lane)
    }
    this.#pumping = false
  }

  #runNext(lane: Lane<Sequence>): void {
    if (lane.taken === 0 || this.#busy.has(lane)) return
    const { strategy, pool, runner } = this.#parts
    const decision = strategy.pick(lane, performance.now())
    if ('waitUntil' in decision) {
      this.#wakeAt(lane, decision.waitUntil)
      return
    }
    const slot = pool.take(lane.instance)
    if (slot === undefined) return
    this.#busy.add(lane)
    runner.run(slot, this.#makeBatch(decision.run))
  }

  #makeBatch(turns: readonly (Turn | undefined)[]): readonly (Step | Filler)[] {
    const steps = turns.map((turn) => turn && this.#makeStep(turn))
    const model = steps.find((step) => step !== undefined)
    return steps.flatMap((step) => step ?? (model === undefined ? [] : this.#makeFiller(model)))
  }

  #makeStep(turn: Turn): Step {
    const { states, controls, visible, onTake } = this.#parts
    const { sequence } = turn
    sequence.states = states.before(turn)
    sequence.queue.shift()
    sequence.running = turn
    sequence.served += 1
    onTake(turn)
    const signals = { start: turn.start, end: turn.end, ready: true }
    const added = [...controls.make(signals, sequence.idTensor), ...sequence.states]
    return new Step(turn, { added, states, visible })
  }

  #makeFiller(model: Step): Filler {
    const added = [...this.#parts.controls.make(FILLER, this.#noId), ...model.turn.sequence.states]
    return new Filler(model, added)
  }

  end(steps: readonly Step[]): void {
    const lane = steps[0]?.turn.sequence.place?.lane
    if (lane !== undefined) this.#busy.delete(lane)
  }

  #wakeAt(lane: Lane<Sequence>, at: number): void {
    const { deadlines } = this.#parts
    const wake = this.#wakes.get(lane)
    if (wake?.cancelled === false) {
      if (wake.at === at) return
      deadlines.cancel(wake)
    }
    if (at === Infinity) return
    const next = { at, cancelled: false, expire: () => this.run() }
    this.#wakes.set(lane, next)
    deadlines.add(next)
  }

  /** Lets every instance go. Nothing runs. */
  close(): void {
    for (const wake of this.#wakes.values()) this.#parts.deadlines.cancel(wake)
    this.#wakes.clear()
    this.#slots.clear()
  }
}
