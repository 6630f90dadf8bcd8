import type { JsonValue } from '@conch/server/schemas'

/** Whether a model answers any number of times, by its config. */
export function isDecoupled(config: JsonValue): boolean {
  const policy = memberOf(config, 'model_transaction_policy')
  return memberOf(policy, 'decoupled') === true
}

function memberOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  return (value as { readonly [key: string]: JsonValue })[name]
}

/** Names of inputs that a request may leave out. */
export function listOptional(config: JsonValue): readonly string[] {
  const inputs = memberOf(config, 'input')
  if (!Array.isArray(inputs)) return []
  return (inputs as readonly JsonValue[]).flatMap((input) => {
    const name = memberOf(input, 'name')
    return memberOf(input, 'optional') === true && typeof name === 'string' ? [name] : []
  })
}
