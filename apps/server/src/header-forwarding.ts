import { setFlagsFromString } from 'node:v8'
import { ConchError } from '@conch/protocol'

export type HeaderMatch = (name: string) => boolean

/** Names that mean something to the server itself (reference: http §1.5). */
const RESERVED: ReadonlySet<string> = new Set([
  'sequence_id',
  'sequence_start',
  'sequence_end',
  'priority',
  'timeout',
  'headers',
  'binary_data_output',
])

/**
 * Compiles `--http-header-forward-pattern` or gRPC's (`flag`): a partial match in any case. The names come from clients, so the expression
 * runs on V8's linear engine, as the original's does on RE2; what that engine cannot run is refused.
 */
export function compileHeaderPattern(pattern: string, flag = 'http-header-forward-pattern'): HeaderMatch | undefined {
  if (pattern === '') return undefined
  setFlagsFromString('--enable-experimental-regexp-engine')
  const expression = compileLinear(ignoreCase(pattern.replace(/^\(\?i\)/, '')), { pattern, flag })
  return (name) => expression.test(name)
}

/** V8's flag for its linear engine. */
const LINEAR = 'l'

function compileLinear(source: string, { pattern, flag }: { pattern: string; flag: string }): RegExp {
  try {
    return new RegExp(source, LINEAR)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`invalid pattern for --${flag}, got: ${pattern} (${reason})`, { cause })
  }
}

/** The linear engine has no flag for it, so every letter becomes a class of its two forms. */
export function ignoreCase(pattern: string): string {
  let out = ''
  let inClass = false
  for (let i = 0; i < pattern.length; i += 1) {
    const c = pattern[i] ?? ''
    if (c === '\\') {
      out += c + (pattern[i + 1] ?? '')
      i += 1
    } else if (c === '[' || c === ']') {
      inClass = c === '['
      out += c
    } else if (!/[a-z]/i.test(c)) out += c
    else if (!inClass) out += `[${c.toLowerCase()}${c.toUpperCase()}]`
    else {
      const range = /^[a-z]-[a-z]/i.exec(pattern.slice(i))?.[0] ?? c
      out += range.toLowerCase() + range.toUpperCase()
      i += range.length - 1
    }
  }
  return out
}

/** What of a request's headers becomes parameters; undefined when nothing matches. Throws for a name that is reserved. */
export function forwardHeaders(raw: readonly string[], matches: HeaderMatch): Record<string, string> | undefined {
  let forwarded: Record<string, string> | undefined
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] ?? ''
    if (!matches(name)) continue
    if (RESERVED.has(name) || name.startsWith('triton_')) {
      throw new ConchError('INVALID_ARG', `Header '${name}' is reserved for Triton usage and cannot be forwarded.`)
    }
    forwarded ??= Object.create(null) as Record<string, string>
    forwarded[name] = raw[i + 1] ?? ''
  }
  return forwarded
}
