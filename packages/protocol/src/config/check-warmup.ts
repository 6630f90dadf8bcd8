import type { Complaints } from './complaints.ts'
import { keyStep } from './pbtxt/tree.ts'
import type { ModelWarmup } from './schema.ts'

/** Warm-up samples that cannot run. Warnings: the original's own texts come from the request that fails at load. */
export function checkWarmup(complaints: Complaints): void {
  const { model_warmup: samples, input, max_batch_size: most, platform } = complaints.config
  if (platform === 'ensemble' || input.length === 0) return
  for (const [index, sample] of samples.entries()) {
    const path = `model_warmup[${String(index)}]`
    const label = `warm-up '${sample.name}'`
    const limit = Math.max(1, most)
    if (sample.batch_size === 0) {
      const repair = { title: 'Set batch_size to 1', path: `${path}.batch_size`, value: 1 }
      complaints.add(path, `${label}: batch_size 0, the sample is skipped`, { severity: 'warning', repair })
    } else if (sample.batch_size > limit) {
      const text = `${label}: batch_size ${String(sample.batch_size)} is above the maximum of ${String(limit)}`
      complaints.add(`${path}.batch_size`, text, { severity: 'warning' })
    }
    checkInputs(complaints, { sample, path, label })
  }
}

interface Place {
  readonly sample: ModelWarmup
  readonly path: string
  readonly label: string
}

function checkInputs(complaints: Complaints, { sample, path, label }: Place): void {
  const { input } = complaints.config
  const known = new Set(input.map((tensor) => tensor.name))
  const names = [...known].slice(0, 20).join(', ')
  for (const [name, data] of Object.entries(sample.inputs)) {
    if (complaints.isFull) return
    const at = `${path}.${keyStep('inputs', name)}`
    if (!known.has(name)) {
      complaints.add(at, `${label}: unknown input '${name}'; model inputs: ${names}`, { severity: 'warning' })
    }
    if ((data.zero_data ?? data.random_data ?? data.input_data_file) === undefined) {
      const repair = { title: 'Use zeros', path: `${at}.zero_data`, value: true }
      const text = `${label}: input '${name}' has none of zero_data, random_data, input_data_file`
      complaints.add(at, text, { severity: 'warning', repair })
    }
  }
  const missing = input.find((tensor) => !tensor.optional && !Object.hasOwn(sample.inputs, tensor.name))
  if (missing === undefined) return
  complaints.add(path, `${label}: input '${missing.name}' is missing`, { severity: 'warning' })
}
