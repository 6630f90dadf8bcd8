let trim: (() => void) | undefined

/** The library that calls native code brings the function; nobody has to load it for this alone. */
export function offerTrim(offered: () => void): void {
  trim = offered
}

/** Gives memory that was freed back to the system, on another thread. Does nothing as long as there is no way to. */
export function trimMemory(): void {
  trim?.()
}
