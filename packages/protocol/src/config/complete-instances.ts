import type { InstanceKind, ModelConfig, ModelInstanceGroup } from './schema.ts'

export interface InstanceFacts {
  readonly preferredGroup: { readonly kind: 'KIND_CPU' | 'KIND_GPU' | 'KIND_MODEL'; readonly count: number }
  readonly gpus: readonly number[]
}

/** Names, kinds, counts and GPUs of the instance groups. An ensemble has none. */
export function completeInstanceGroups(config: ModelConfig, facts: InstanceFacts): ModelConfig {
  if (config.platform === 'ensemble') return config
  const made = structuredClone(config)
  const unnamed = made.instance_group.length === 0 ? [createGroup(made.name, facts)] : made.instance_group
  made.instance_group = unnamed.map((group, index) => completeGroup(group, `${made.name}_${String(index)}`, facts))
  return made
}

/** The only group of a config that names none carries the model's name without a number. */
function createGroup(name: string, facts: InstanceFacts): ModelInstanceGroup {
  const { kind } = facts.preferredGroup
  return {
    name,
    kind: kind === 'KIND_GPU' && facts.gpus.length === 0 ? 'KIND_CPU' : kind,
    count: 0,
    gpus: [],
    secondary_devices: [],
    profile: [],
    passive: false,
    host_policy: '',
  }
}

function completeGroup(group: ModelInstanceGroup, name: string, facts: InstanceFacts): ModelInstanceGroup {
  const kind = group.kind === 'KIND_AUTO' ? chooseKind(group, facts) : group.kind
  return {
    ...group,
    name: group.name === '' ? name : group.name,
    kind,
    // Zero and negative counts are accepted and mean the default.
    count: group.count > 0 ? group.count : kind === 'KIND_CPU' ? Math.max(1, facts.preferredGroup.count) : 1,
    gpus: kind === 'KIND_GPU' && group.gpus.length === 0 ? [...facts.gpus] : group.gpus,
  }
}

function chooseKind(group: ModelInstanceGroup, facts: InstanceFacts): InstanceKind {
  const isPossible = facts.gpus.length > 0 && group.gpus.every((id) => facts.gpus.includes(id))
  return isPossible ? 'KIND_GPU' : 'KIND_CPU'
}
