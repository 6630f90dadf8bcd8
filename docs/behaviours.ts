import path from 'node:path'
import { listFiles, readText } from './repository.ts'

/** A promise to clients: one test function of the conformance suite and what its first line says. */
export interface Behaviour {
  readonly test: string
  readonly text: string
  /** Goes beyond the original. */
  readonly superset: boolean
  readonly status: string
}
export interface Capability {
  readonly file: string
  readonly title: string
  readonly behaviours: readonly Behaviour[]
}

const SUITE = 'apps/server/test/conformance'
const FUNCTION = /((?:^@.*\n(?:[ \t]+.*\n|\)\n)*)*)^def (test_\w+)\([^]*?\):\n {4}"""([^]*?)(?:"""|\n)/gm

/** Test id without its case → how many of its cases are expected to fail, and the first reason. */
type Expected = ReadonlyMap<string, { readonly cases: number; readonly reason: string; readonly whole: boolean }>

export function readExpectedFailures(text: string): Expected {
  const found = new Map<string, { cases: number; reason: string; whole: boolean }>()
  let reason = ''
  for (const line of text.split('\n')) {
    if (line.startsWith('#')) reason = line.replace(/^#\s*/, '')
    else if (line.trim() !== '') {
      const test = line.replace(/\[.*$/, '')
      const before = found.get(test)
      found.set(test, { cases: (before?.cases ?? 0) + 1, reason: before?.reason ?? reason, whole: !line.includes('[') })
    }
  }
  return found
}

/** Reads the suite's own sentences, so that the document cannot promise what no test checks. */
export function readCapabilities(): readonly Capability[] {
  const expected = readExpectedFailures(readText(`${SUITE}/expected-failures.txt`))
  return listFiles(`${SUITE}/test_*.py`).map((file) => readCapability(file, readText(file), expected))
}

function readCapability(file: string, source: string, expected: Expected): Capability {
  const [, title = ''] = /^"""(.*?)(?:"""|\n)/.exec(source) ?? []
  const behaviours = [...source.matchAll(FUNCTION)].map(([, decorators = '', name = '', text = '']) => {
    const missing = expected.get(`${path.basename(file)}::${name}`)
    return { test: name, text: text.trim(), superset: /superset\(/.test(decorators), status: describeStatus(missing) }
  })
  return { file, title, behaviours }
}

function describeStatus(missing: { cases: number; reason: string; whole: boolean } | undefined): string {
  if (missing === undefined) return 'yes'
  return missing.whole ? `not yet: ${missing.reason}` : `but for ${missing.cases} cases: ${missing.reason}`
}
