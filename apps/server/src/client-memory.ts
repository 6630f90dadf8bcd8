import { ConchError } from '@conch/protocol'

/** Throws unless clients may register memory (`--allow-client-shm`). */
export function checkClientMemory({ allowClientShm }: { readonly allowClientShm: boolean }): void {
  if (allowClientShm) return
  const text = "Client shared memory is disabled. Start the server with '--allow-client-shm=true' to enable."
  throw new ConchError('UNSUPPORTED', text)
}
