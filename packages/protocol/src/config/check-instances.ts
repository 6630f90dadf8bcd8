import type { Complaints } from './complaints.ts'
import type { ModelInstanceGroup } from './schema.ts'

/** Of one model version. What more would cost is not known before it is too late. */
export const MOST_INSTANCES = 1024

/** Instance groups of a completed config against the GPUs that may be used. */
export function checkInstances(complaints: Complaints, gpus: readonly number[]): void {
  const { name, platform, instance_group: groups } = complaints.config
  if (platform === 'ensemble') return
  if (groups.length === 0) complaints.add('instance_group', `must specify one or more 'instance group's for ${name}`)
  const asked = groups.reduce((sum, { count, gpus: on }) => sum + Math.max(count, 0) * Math.max(1, on.length), 0)
  if (asked > MOST_INSTANCES) {
    complaints.add('instance_group', `model ${name} asks for ${asked} instances, at most ${MOST_INSTANCES} are made`)
  }
  for (const [index, group] of groups.entries()) {
    const path = `instance_group[${String(index)}]`
    if (group.kind === 'KIND_GPU') checkGpuGroup(complaints, { group, path, gpus })
    else if (group.gpus.length > 0) {
      const original = `instance group ${group.name} of model ${name} has kind ${group.kind} but specifies one or more GPUs`
      complaints.add(`${path}.gpus`, original, {
        repair: { title: 'Remove gpus', path: `${path}.gpus`, value: undefined },
      })
    }
    checkProfiles(complaints, group, path)
  }
}

interface GpuGroup {
  readonly group: ModelInstanceGroup
  readonly path: string
  readonly gpus: readonly number[]
}

function checkGpuGroup(complaints: Complaints, { group, path, gpus }: GpuGroup): void {
  const start = `instance group ${group.name} of model ${complaints.config.name}`
  if (gpus.length === 0) {
    const repair = { title: 'Use the CPU', path: `${path}.kind`, value: 'KIND_CPU' }
    complaints.add(path, `${start} has kind KIND_GPU but no GPUs are available`, { hint: 'no GPU is visible', repair })
    return
  }
  if (group.gpus.length === 0) complaints.add(path, `${start} has kind KIND_GPU but specifies no GPUs`)
  for (const [index, id] of group.gpus.entries()) {
    if (gpus.includes(id)) continue
    const visible = gpus.join(', ')
    const original = `${start} specifies invalid or unsupported gpu id ${String(id)}. GPUs with at least the minimum required CUDA compute compatibility of 6.000000 are: ${visible}`
    const hint = `GPU id ${String(id)} is not present; visible ids: ${visible}`
    complaints.add(`${path}.gpus[${String(index)}]`, original, { hint })
  }
}

function checkProfiles(complaints: Complaints, group: ModelInstanceGroup, path: string): void {
  if (group.profile.length === 0) return
  const { name, platform, backend } = complaints.config
  const start = `instance group ${group.name} of model ${name}`
  if (platform !== 'tensorrt_plan' && backend !== 'tensorrt') {
    const original = `${start} and platform ${platform}specifies profile field which is only supported for TensorRT models`
    complaints.add(`${path}.profile`, original)
    return
  }
  for (const [index, profile] of group.profile.entries()) {
    if (/^\d+$/.test(profile)) continue
    const original = `${start} specifies invalid profile ${profile}. The field should contain the string representation of a non-negative integer.`
    complaints.add(`${path}.profile[${String(index)}]`, original)
  }
}
