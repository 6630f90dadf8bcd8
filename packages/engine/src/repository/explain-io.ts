import { ConchError } from '@conch/protocol'
import { printPath } from './contain.ts'

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'No such file or directory',
  EACCES: 'Permission denied',
  EPERM: 'Operation not permitted',
  EISDIR: 'Is a directory',
}

/** A file system failure in the original's words, without the server's paths. */
export function explainIo(cause: unknown, action: string, path: string): ConchError {
  const code = (cause as NodeJS.ErrnoException).code ?? ''
  const reason = REASONS[code] ?? code
  return new ConchError('INTERNAL', `failed to ${action} ${printPath(path)}: ${reason}`, { cause })
}
