import type { Tensor } from '@conch/protocol'
import type { ActiveRequest } from '../../request.ts'
import type { Deadline } from '../deadlines.ts'
import type { Place } from './slots.ts'

/** Who is told what became of a sequence. */
export interface SequenceOwner {
  /** A waiting request's client has gone. */
  dropped(turn: Turn): void
  /** Nothing was heard of it for long. */
  silent(sequence: Sequence): void
  /** It waited too long for a slot. */
  overdue(sequence: Sequence): void
}

/** One request of a sequence, waiting or running; also the listener on its signal. */
export class Turn {
  readonly sequence: Sequence
  readonly request: ActiveRequest
  readonly arrivedAt: number
  readonly order: number
  /** What the model is told about it. */
  readonly start: boolean
  readonly end: boolean
  readonly #owner: SequenceOwner

  constructor(owner: SequenceOwner, sequence: Sequence, parts: TurnParts) {
    this.#owner = owner
    this.sequence = sequence
    this.request = parts.request
    this.arrivedAt = parts.arrivedAt
    this.order = parts.order
    this.start = parts.start
    this.end = parts.end
  }

  handleEvent(): void {
    this.#owner.dropped(this)
  }
}

export interface TurnParts {
  readonly request: ActiveRequest
  readonly arrivedAt: number
  readonly order: number
  readonly start: boolean
  readonly end: boolean
}

/** One sequence, from its START until its slot is free again. */
export class Sequence {
  readonly id: bigint | string
  /** Its correlation id as the model gets it. */
  readonly idTensor: Tensor | undefined
  /** In order of arrival; the one that runs is not among them. */
  readonly queue: Turn[] = []
  /** Undefined while it waits for one. */
  place: Place<Sequence> | undefined = undefined
  running: Turn | undefined = undefined
  /** No request can join: it ends when those it has are answered. */
  closed = false
  /** Closed by silence: not even a request that the model put back may go on. */
  timedOut = false
  /** Arrival of its last request. */
  lastAt = 0
  /** When its first request could run: it has a slot, and none before it is left. */
  readyAt = 0
  /** What its next request gets as state. */
  states: readonly Tensor[]
  /** Requests that ran. */
  served = 0
  silence: Deadline | undefined = undefined
  /** While it waits for a slot and a request of it has a timeout. */
  expiry: Deadline | undefined = undefined

  constructor(
    id: bigint | string,
    parts: { readonly idTensor: Tensor | undefined; readonly states: readonly Tensor[] },
  ) {
    this.id = id
    this.idTensor = parts.idTensor
    this.states = parts.states
  }
}
