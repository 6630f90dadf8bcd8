import type { JsonValue } from './model.schema.ts'

/** 64-bit numbers become decimal texts; what was not written is left out. */
export function toJsonSafe(value: unknown): JsonValue {
  if (typeof value === 'bigint') return value.toString()
  if (Array.isArray(value)) return value.map(toJsonSafe)
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(([, inner]) => inner !== undefined)
    return Object.fromEntries(entries.map(([key, inner]) => [key, toJsonSafe(inner)]))
  }
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value)
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null
}
