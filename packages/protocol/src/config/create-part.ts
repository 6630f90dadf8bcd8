import { createMessage } from './descriptor.ts'
import type { ModelDynamicBatching, ModelInput, ModelInstanceGroup, ModelOutput } from './schema.ts'

interface Parts {
  readonly ModelDynamicBatching: ModelDynamicBatching
  readonly ModelInput: ModelInput
  readonly ModelInstanceGroup: ModelInstanceGroup
  readonly ModelOutput: ModelOutput
}

/** A part of a config as an empty block would make it: every field has its default. */
export function createConfigPart<Name extends keyof Parts>(name: Name): Parts[Name] {
  return createMessage(`inference.${name}`) as unknown as Parts[Name]
}
