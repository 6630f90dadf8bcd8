import { expect, it } from 'vitest'
import { runCommand } from './command.ts'

function run(script: string, change: { signal?: AbortSignal; timeoutMs?: number } = {}) {
  const lines: string[] = []
  const shell = { program: '/bin/sh', args: ['-c', script], directory: '/', env: { PATH: '/usr/bin:/bin' } }
  return runCommand({ ...shell, signal: undefined, onLine: (line) => void lines.push(line), ...change })
}

it('tells lines without colours, control characters and passwords', async () => {
  const { code, lines } = await run(
    `printf '\\033[31mred\\033[0m\\rnext\\a\\n' >&2; echo "see https://me:secret@host/simple"; printf 'no end'; exit 3`,
  )
  expect(code).toBe(3)
  expect(lines.toSorted()).toEqual(['next', 'no end', 'red', 'see https://***@host/simple'])
})

it('keeps the last lines, and no more than it can hold', async () => {
  const { lines, output } = await run(
    'for i in $(seq 1 2000); do echo $i; done; head -c 3000000 /dev/zero | tr "\\0" x',
  )
  expect(lines).toHaveLength(40)
  expect(lines.at(-1)).toMatch(/^x{500}$/)
  expect(output.length).toBeLessThan(1_200_000)
})

it('ends the whole group when nobody waits, or when the time is over', async () => {
  const stop = new AbortController()
  const waiting = run('sleep 60 & sleep 60', { signal: stop.signal })
  stop.abort()
  await expect(waiting).rejects.toMatchObject({ code: 'CANCELLED' })
  expect((await run('sleep 60', { timeoutMs: 20 })).code).toBe(-1)
})

it('says that there is no such program', async () => {
  const command = { program: '/no/program', args: [], directory: '/', env: {}, signal: undefined }
  await expect(runCommand(command)).rejects.toThrow("'/no/program' could not be started")
})
