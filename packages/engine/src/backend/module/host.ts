// The process that a custom backend runs in when it asks for its own. It lives as long as the server that started it.
import { koffi } from '../../native/contract.ts'
import { Hosted } from './hosted.ts'
import type { Message } from './wire.ts'

const DIE_WITH_PARENT = 1

/** A loop in the backend's code would keep it from noticing that the channel has closed. */
function dieWithParent(): void {
  if (process.platform !== 'linux') return
  try {
    const prctl = koffi.load(null).func('int prctl(int, unsigned long)') as (option: number, signal: number) => number
    prctl(DIE_WITH_PARENT, 9)
  } catch {
    // It ends with the channel all the same.
  }
}

dieWithParent()
const hosted = new Hosted((message) => process.send?.(message, undefined, undefined, () => undefined))
process.on('message', (message) => hosted.receive(message as Message))
process.on('disconnect', () => process.exit(0))
process.send?.({ t: 'note', what: 'up', body: undefined } satisfies Message)
