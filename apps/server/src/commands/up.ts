import { readOrExplain } from './serve.ts'

export async function runUp(args: readonly string[]): Promise<number> {
  const options = readOrExplain(args, 'up')
  if (options === undefined) return 1
  return (await import('../up.ts')).serveWithConsole(options)
}
