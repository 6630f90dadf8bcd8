/** Lets any number of waiters know when there is nothing left to do. */
export class Idle {
  #next: PromiseWithResolvers<void> | undefined = undefined

  /** Resolves when `isBusy` says no; it is asked again after every `wake`. */
  async wait(isBusy: () => boolean): Promise<void> {
    while (isBusy()) await (this.#next ??= Promise.withResolvers()).promise
  }

  wake(): void {
    this.#next?.resolve()
    this.#next = undefined
  }
}
