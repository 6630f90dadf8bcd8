import { readFileSync } from 'node:fs'

/**
 * Loaded into a server before its own code: watches how long its event loop stands still. On SIGUSR2 it prints
 * `PAUSE {"longest":…,"own":…}` (ms) since the last signal. `own` leaves out the time in which the thread could have run
 * and the machine ran something else.
 */
const EVERY = 1

/** Milliseconds in which this thread waited for a processor. */
function readWaited(): number {
  return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[1]) / 1e6
}

let last = performance.now()
let waited = readWaited()
let longest = 0
let own = 0

function look(): void {
  const now = performance.now()
  const nowWaited = readWaited()
  const pause = now - last - EVERY
  longest = Math.max(longest, pause)
  own = Math.max(own, pause - (nowWaited - waited))
  last = now
  waited = nowWaited
}

setInterval(look, EVERY).unref()
process.on('SIGUSR2', () => {
  look()
  process.stdout.write(`PAUSE ${JSON.stringify({ longest, own })}\n`)
  longest = 0
  own = 0
})
