/** Something that is to happen at a time on the `performance.now()` clock unless it is cancelled. */
export interface Deadline {
  /** Milliseconds. */
  readonly at: number
  cancelled: boolean
  /** Set by `Deadlines`: those of one moment come in the order in which they were added. */
  order?: number
  /** Called once, at or shortly after `at`. */
  expire(): void
}

/** Longest delay that a timer of Node can hold. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** One timer for any number of deadlines: a binary heap by time, cancelled ones dropped when they come up. */
export class Deadlines {
  readonly #heap: Deadline[] = []
  #timer: NodeJS.Timeout | undefined = undefined
  #armedFor = Infinity
  #cancelled = 0
  #added = 0

  add(deadline: Deadline): void {
    deadline.order = this.#added++
    this.#heap.push(deadline)
    this.#rise(this.#heap.length - 1)
    if (deadline.at < this.#armedFor) this.#arm()
  }

  cancel(deadline: Deadline): void {
    if (deadline.cancelled) return
    deadline.cancelled = true
    this.#cancelled += 1
    if (this.#cancelled > 64 && this.#cancelled * 2 > this.#heap.length) this.#compact()
    if (this.#cancelled === this.#heap.length) this.#clear()
  }

  get size(): number {
    return this.#heap.length - this.#cancelled
  }

  #clear(): void {
    this.#heap.length = 0
    this.#cancelled = 0
    clearTimeout(this.#timer)
    this.#armedFor = Infinity
  }

  #arm(): void {
    const head = this.#heap[0]
    clearTimeout(this.#timer)
    this.#armedFor = head?.at ?? Infinity
    if (head === undefined) return
    // Rounded up: a timer that fires early would only have to be armed again.
    const delay = Math.min(MAX_TIMER_MS, Math.max(0, Math.ceil(head.at - performance.now())))
    this.#timer = setTimeout(() => this.#fire(), delay)
  }

  #fire(): void {
    const now = performance.now()
    this.#armedFor = Infinity
    for (let head = this.#heap[0]; head !== undefined && (head.cancelled || head.at <= now); head = this.#heap[0]) {
      this.#pop()
      if (head.cancelled) this.#cancelled -= 1
      else {
        head.cancelled = true
        head.expire()
      }
    }
    this.#arm()
  }

  #compact(): void {
    const rest = this.#heap.filter((deadline) => !deadline.cancelled)
    this.#heap.length = 0
    this.#cancelled = 0
    for (const deadline of rest) {
      this.#heap.push(deadline)
      this.#rise(this.#heap.length - 1)
    }
  }

  #pop(): void {
    const last = this.#heap.pop()
    if (last === undefined || this.#heap.length === 0) return
    this.#heap[0] = last
    this.#sink()
  }

  #rise(index: number): void {
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (!this.#isBefore(index, parent)) return
      this.#swap(parent, index)
      index = parent
    }
  }

  #sink(): void {
    let index = 0
    for (;;) {
      const left = 2 * index + 1
      if (left >= this.#heap.length) return
      const smaller = this.#isBefore(left + 1, left) ? left + 1 : left
      if (!this.#isBefore(smaller, index)) return
      this.#swap(index, smaller)
      index = smaller
    }
  }

  #isBefore(a: number, b: number): boolean {
    const one = this.#heap[a]
    const other = this.#heap[b]
    if (one === undefined || other === undefined) return one !== undefined
    return one.at === other.at ? (one.order ?? 0) < (other.order ?? 0) : one.at < other.at
  }

  #swap(a: number, b: number): void {
    const one = this.#heap[a]
    const other = this.#heap[b]
    if (one === undefined || other === undefined) return
    this.#heap[a] = other
    this.#heap[b] = one
  }
}
