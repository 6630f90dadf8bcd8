/** Events that a slow reader may fall behind before the oldest are dropped. */
const BEHIND = 1000

/** Turns a listener into an async generator that ends with the signal. Bounded: what nobody reads in time is dropped, oldest first. */
export async function* followEvents<T>(
  subscribe: (push: (event: T) => void) => () => void,
  signal: AbortSignal | undefined,
): AsyncGenerator<T, void, undefined> {
  const waiting: T[] = []
  let wake = () => {}
  const onAbort = () => wake()
  const stop = subscribe((event) => {
    waiting.push(event)
    if (waiting.length > BEHIND) waiting.shift()
    wake()
  })
  signal?.addEventListener('abort', onAbort)
  try {
    while (signal?.aborted !== true) {
      const event = waiting.shift()
      if (event !== undefined) yield event
      else await new Promise<void>((resolve) => (wake = resolve))
    }
  } finally {
    signal?.removeEventListener('abort', onAbort)
    stop()
  }
}
