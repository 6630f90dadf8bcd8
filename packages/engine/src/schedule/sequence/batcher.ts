import { ConchError } from '@conch/protocol'
import type { ModelConfig } from '@conch/protocol'
import type { ActiveRequest } from '../../request.ts'
import type { OpenSequences, Scheduler, ScheduleParts, SequenceSlots } from '../contract.ts'
import { Deadlines } from '../deadlines.ts'
import { BatchRunner, DIRECT } from '../run-batch.ts'
import { Stopping } from '../stopping.ts'
import { Controls } from './controls.ts'
import { describeSlots } from './describe-slots.ts'
import { Lanes } from './lanes.ts'
import { OpenMap } from './open-map.ts'
import { Sequence, Turn } from './sequence.ts'
import type { SequenceOwner } from './sequence.ts'
import { States } from './states.ts'
import { Step } from './step.ts'
import { chooseStrategy } from './strategy.ts'

interface Flags {
  readonly start: boolean
  readonly end: boolean
}

/** Milliseconds after which a sequence without a slot is looked at again. */
const LOOK_AGAIN = 50

/**
 * The sequence batcher: requests of one sequence go to one slot of one instance, in order, one at a time, with what the
 * model must be told about them. Sequences without a slot wait for one (sequence §3).
 */
export class SequenceScheduler implements Scheduler, SequenceOwner {
  readonly #parts: ScheduleParts
  readonly #maxIdle: number
  readonly #iterative: boolean
  readonly #controls: Controls
  readonly #states: States
  readonly #lanes: Lanes
  readonly #deadlines = new Deadlines()
  readonly #stopping = new Stopping(() => this.inflight)
  /** Sequences that requests can join, by id. */
  readonly #open = new OpenMap()
  readonly sequences: OpenSequences = this.#open
  /** Those that wait for a slot, first come first served. */
  readonly #backlog = new Set<Sequence>()
  /** Ids that the server gave. */
  #given = 0n
  /** Requests that came, those that were put back included. */
  #turns = 0
  #queued = 0
  #running = 0

  constructor(parts: ScheduleParts) {
    const { config, initialStates: files = new Map<string, Uint8Array>(), pool, log } = parts
    const warn = (text: string) => log?.write('warning', text)
    const batching = config.sequence_batching
    this.#parts = parts
    this.#maxIdle = Number(batching?.max_sequence_idle_microseconds ?? 1_000_000n) / 1_000
    this.#iterative = batching?.iterative_sequence === true
    this.#controls = new Controls(config)
    this.#states = new States(config, { batches: config.max_batch_size > 0, files, warn })
    const delivery = {
      ...DIRECT,
      ended: (steps: readonly ActiveRequest[]) => this.#end(steps),
      ...(this.#iterative
        ? { again: (step: ActiveRequest) => void (step instanceof Step && (step.again = true)) }
        : {}),
    }
    this.#lanes = new Lanes({
      pool,
      deadlines: this.#deadlines,
      strategy: chooseStrategy(config, this.#states),
      states: this.#states,
      controls: this.#controls,
      visible: new Set(config.output.map(({ name }) => name)),
      runner: new BatchRunner({ ...parts, config: showStates(config, this.#states) }, delivery),
      onTake: (turn) => this.#takeOut(turn),
    })
    pool.onFree = () => this.#pump()
    this.#lanes.follow()
  }

  enqueue(request: ActiveRequest): void {
    const { sequenceId: id, sequenceStart: start, sequenceEnd: end } = request.request
    const about = `inference request to model '${this.#parts.model}' must specify`
    if (request.rows > 1) refuse(`${about} batch-size 1 due to requirements of sequence batcher`)
    if (id !== 0n && id !== '') this.#enqueueNamed(request, { id, start, end })
    else if (this.#iterative) this.#enqueueAlone(request)
    else refuse(`${about} a non-zero or non-empty correlation ID`)
  }

  #enqueueNamed(request: ActiveRequest, { id, ...flags }: Flags & { readonly id: bigint | string }): void {
    if (flags.start) this.#stopping.admit(request)
    const known = this.#open.get(id)
    if (known !== undefined && flags.start) this.#warnConflict(id)
    if (known === undefined && !flags.start) this.#refuseUnknown(id)
    const sequence = known ?? this.#begin(id)
    if (known === undefined) this.#open.set(id, sequence)
    if (flags.end) this.#close(sequence)
    this.#take(sequence, request, flags)
  }

  /** A sequence of its own, with an id that the server gives: nobody can join, it ends with its request. */
  #enqueueAlone(request: ActiveRequest): void {
    this.#stopping.admit(request)
    this.#given += 1n
    const sequence = this.#begin(this.#given)
    sequence.closed = true
    this.#take(sequence, request, { start: true, end: false })
  }

  #take(sequence: Sequence, request: ActiveRequest, flags: Flags): void {
    request.timings.queued = performance.now()
    const turn = this.#makeTurn(sequence, request, flags)
    this.#add(turn)
    if (sequence.place === undefined) this.#admit(sequence)
    if (sequence.place === undefined) this.#limitWait(turn)
    if (!flags.end || this.#iterative) this.#awaitSilence(sequence)
    if (request.signal?.aborted === true) this.dropped(turn)
    else this.#pump()
  }

  #refuseUnknown(id: bigint | string): never {
    const text = `inference request for sequence ${id} to model '${this.#parts.model}'`
    return refuse(`${text} must specify the START flag on the first request of the sequence`)
  }

  #warnConflict(id: bigint | string): void {
    const { log, model } = this.#parts
    const text = `sequence ${id} for model '${model}' has a conflict. The previous sequence did not end before this sequence start.`
    log?.write('warning', `${text} Previous sequence will be terminated early.`)
  }

  #begin(id: bigint | string): Sequence {
    return new Sequence(id, { idTensor: this.#controls.makeId(id), states: this.#states.initial })
  }

  #makeTurn(sequence: Sequence, request: ActiveRequest, flags: Flags): Turn {
    this.#turns += 1
    return new Turn(this, sequence, { request, arrivedAt: performance.now(), order: this.#turns, ...flags })
  }

  #add(turn: Turn): void {
    const { sequence, request } = turn
    sequence.lastAt = turn.arrivedAt
    if (sequence.queue.length === 0 && sequence.running === undefined) sequence.readyAt = turn.arrivedAt
    sequence.queue.push(turn)
    this.#wait(request, turn)
  }

  #wait(request: ActiveRequest, turn: Turn): void {
    this.#queued += 1
    this.#parts.reporter.pending(1)
    request.signal?.addEventListener('abort', turn, { once: true })
  }

  #leave(turn: Turn): void {
    this.#queued -= 1
    this.#parts.reporter.pending(-1)
    turn.request.signal?.removeEventListener('abort', turn)
  }

  /** Gives a sequence a slot, or lets it wait for one behind those that do. */
  #admit(sequence: Sequence): void {
    if (this.#backlog.has(sequence)) return
    this.#lanes.follow()
    if (this.#backlog.size > 0 || !this.#lanes.seat(sequence)) this.#backlog.add(sequence)
  }

  #seatWaiting(): void {
    for (const sequence of this.#backlog) {
      if (!this.#lanes.seat(sequence)) return
      this.#backlog.delete(sequence)
      if (sequence.expiry !== undefined) this.#deadlines.cancel(sequence.expiry)
    }
  }

  /** A request's timeout counts while its sequence waits for a slot. */
  #limitWait({ request, arrivedAt, sequence }: Turn): void {
    const { timeout } = request.request
    const at = arrivedAt + timeout / 1_000
    const { expiry } = sequence
    if (timeout === 0 || (expiry !== undefined && expiry.at <= at)) return
    if (expiry !== undefined) this.#deadlines.cancel(expiry)
    sequence.expiry = { at, cancelled: false, expire: () => this.overdue(sequence) }
    this.#deadlines.add(sequence.expiry)
  }

  #awaitSilence(sequence: Sequence, at = sequence.lastAt + this.#maxIdle): void {
    if (sequence.silence?.cancelled === false) return
    sequence.silence = { at, cancelled: false, expire: () => this.silent(sequence) }
    this.#deadlines.add(sequence.silence)
  }

  silent(sequence: Sequence): void {
    const due = sequence.lastAt + this.#maxIdle
    const now = performance.now()
    if (due > now) this.#awaitSilence(sequence, due)
    else if (sequence.place === undefined) this.#awaitSilence(sequence, now + LOOK_AGAIN)
    else {
      sequence.timedOut = true
      this.#close(sequence)
      this.#settle(sequence)
      this.#pump()
    }
  }

  overdue(sequence: Sequence): void {
    const error = new ConchError('UNAVAILABLE', 'timeout of the corresponding sequence has been expired')
    this.#close(sequence)
    for (const turn of sequence.queue.splice(0)) {
      this.#leave(turn)
      turn.request.fail(error, 'rejected')
    }
    this.#settle(sequence)
    this.#pump()
  }

  /** What comes after a request whose client has gone makes no sense without it; without a slot, nothing of it has begun. */
  dropped(turn: Turn): void {
    const { sequence } = turn
    this.#close(sequence)
    this.#drop(sequence, sequence.place === undefined ? 0 : sequence.queue.indexOf(turn))
    this.#settle(sequence)
    this.#pump()
  }

  #drop(sequence: Sequence, from: number): void {
    if (from < 0) return
    for (const turn of sequence.queue.splice(from)) {
      this.#leave(turn)
      turn.request.fail(new ConchError('CANCELLED', ''), 'cancelled')
    }
  }

  /** From now on its id means nothing, or another sequence. */
  #close(sequence: Sequence): void {
    sequence.closed = true
    if (this.#open.get(sequence.id) === sequence) this.#open.delete(sequence.id)
  }

  /** Ends a closed sequence that has nothing left to do: its slot is the next one's. */
  #settle(sequence: Sequence): void {
    if (!sequence.closed || sequence.queue.length > 0 || sequence.running !== undefined) return
    for (const deadline of [sequence.silence, sequence.expiry]) if (deadline) this.#deadlines.cancel(deadline)
    this.#backlog.delete(sequence)
    this.#lanes.unseat(sequence)
  }

  /** The turn begins to run. */
  #takeOut(turn: Turn): void {
    this.#leave(turn)
    this.#running += 1
  }

  /** A batch has ended; its instance is given back next. */
  #end(requests: readonly ActiveRequest[]): void {
    const steps = requests.filter((request) => request instanceof Step)
    this.#lanes.end(steps)
    for (const step of steps) {
      const { sequence } = step.turn
      this.#running -= 1
      sequence.running = undefined
      sequence.readyAt = performance.now()
      if (step.again) this.#putBack(step)
      else if (step.cancelled) {
        this.#close(sequence)
        this.#drop(sequence, 0)
      }
      this.#settle(sequence)
    }
  }

  /** Before everything else of its sequence; what it said as the first or last request has been told. */
  #putBack({ turn: { request, sequence } }: Step): void {
    if (request.done) return
    if (sequence.timedOut) {
      try {
        this.#refuseUnknown(sequence.id)
      } catch (error) {
        request.fail(error, 'rejected')
      }
      return
    }
    const turn = this.#makeTurn(sequence, request, { start: false, end: false })
    sequence.lastAt = turn.arrivedAt
    sequence.queue.unshift(turn)
    this.#wait(request, turn)
    if (request.signal?.aborted === true) this.dropped(turn)
  }

  get inflight(): number {
    return this.#queued + this.#running
  }

  get pending(): number {
    return this.#queued
  }

  continues({ request }: ActiveRequest): boolean {
    return !request.sequenceStart && this.#open.has(request.sequenceId)
  }

  /** Sequences that nobody ended are forgotten. */
  async stop(): Promise<void> {
    await this.#stopping.stop()
    for (const sequence of this.#open.values()) {
      this.#close(sequence)
      this.#settle(sequence)
    }
    this.#lanes.close()
  }

  inspectSlots(): SequenceSlots {
    return describeSlots(this.#lanes, this.#backlog, this.#maxIdle)
  }

  #pump(): void {
    this.#lanes.follow()
    this.#seatWaiting()
    this.#lanes.run()
    this.#stopping.settle()
  }
}

/** The states are outputs as well, as far as instances are concerned. */
function showStates(config: ModelConfig, { outputs }: States): ModelConfig {
  const [first] = config.output
  const names = new Set(config.output.map(({ name }) => name))
  const hidden = outputs.filter((name) => !names.has(name))
  return first === undefined
    ? config
    : { ...config, output: [...config.output, ...hidden.map((name) => ({ ...first, name }))] }
}

function refuse(text: string): never {
  throw new ConchError('INVALID_ARG', text)
}
