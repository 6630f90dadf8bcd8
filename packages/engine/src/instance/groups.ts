import type { ModelInstanceGroup } from '@conch/protocol'
import type { RatedSpec } from './contract.ts'

/** The instances of the groups: `count` per group, and per device for GPU groups. Passive groups get no requests. */
export function planInstances(groups: readonly ModelInstanceGroup[]): readonly RatedSpec[] {
  const specs: RatedSpec[] = []
  for (const group of groups) {
    if (group.passive || group.kind === 'KIND_AUTO') continue
    for (const deviceId of group.kind === 'KIND_GPU' ? group.gpus : [0]) {
      for (let i = 0; i < group.count; i++) {
        const name = `${group.name}_${i}`
        specs.push({ name, kind: group.kind, deviceId, profiles: group.profile, rate: group.rate_limiter })
      }
    }
  }
  return specs
}

/** What makes two instances interchangeable: everything of the group but its name and count. */
export function instanceSignature(spec: RatedSpec): string {
  return JSON.stringify([spec.kind, spec.deviceId, spec.profiles, spec.rate])
}
