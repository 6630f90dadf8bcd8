import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'

/** Every file that `file` imports, and they, for their values. */
function reach(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen
  seen.add(file)
  const text = readFileSync(file, 'utf8')
  for (const [, what = '', from = ''] of text.matchAll(/^(?:import|export) ([^';]*?)from '([^']+)'/gm)) {
    if (what.startsWith('type ')) continue
    if (from.startsWith('.')) reach(path.join(path.dirname(file), from), seen)
    else seen.add(from)
  }
  return seen
}

it('the front door leads to nothing that a browser has not', () => {
  const reached = reach(path.join(import.meta.dirname, 'index.ts'))
  expect([...reached].filter((name) => !path.isAbsolute(name))).toEqual(['@conch/protocol'])
  expect(reached.size).toBeGreaterThan(10)
  const texts = [...reached].filter((name) => path.isAbsolute(name)).map((file) => readFileSync(file, 'utf8'))
  expect(texts.filter((text) => /\bBuffer\b|\bprocess\./.test(text))).toEqual([])
})
