import type { Complaints } from './complaints.ts'
import { enumerationOf } from './descriptor.ts'

export function checkBatchIo(complaints: Complaints): void {
  const inputs = new Set(complaints.config.input.map((tensor) => tensor.name))
  checkBatchInputs(complaints, inputs)
  checkBatchOutputs(complaints, inputs)
}

function checkBatchInputs(complaints: Complaints, inputs: ReadonlySet<string>): void {
  const { name, batch_input: batchInputs } = complaints.config
  const kinds = enumerationOf('inference.BatchInput.Kind').values
  for (const [index, batch] of batchInputs.entries()) {
    const path = `batch_input[${String(index)}]`
    const count = batch.source_input.length
    if (!kinds.has(batch.kind)) complaints.add(`${path}.kind`, `unknown batch input kind '' for ${name}`)
    else if (count !== 1) {
      const original = `batch input kind '${batch.kind}' expects 1 source input, got ${String(count)} for ${name}`
      complaints.add(`${path}.source_input`, original)
    }
    if (batch.data_type !== 'TYPE_INT32' && batch.data_type !== 'TYPE_FP32') {
      const repair = { title: 'Set TYPE_FP32', path: `${path}.data_type`, value: 'TYPE_FP32' }
      complaints.add(path, `batch input data type must be TYPE_INT32 or TYPE_FP32 for ${name}`, { repair })
    }
    checkSources(complaints, { sources: batch.source_input, path, inputs })
  }
}

interface Sources {
  readonly sources: readonly string[]
  readonly path: string
  readonly inputs: ReadonlySet<string>
}

function checkSources(complaints: Complaints, { sources, path, inputs }: Sources): void {
  const { name } = complaints.config
  for (const [index, source] of sources.entries()) {
    if (inputs.has(source) || complaints.isFull) continue
    const hint = `inputs are ${[...inputs].slice(0, 20).join(', ')}`
    complaints.add(`${path}.source_input[${String(index)}]`, `unknown source input name '${source}' for ${name}`, {
      hint,
    })
  }
}

function checkBatchOutputs(complaints: Complaints, inputs: ReadonlySet<string>): void {
  const { name, batch_output: batchOutputs, output } = complaints.config
  const kinds = enumerationOf('inference.BatchOutput.Kind').values
  const seen = new Set<string>()
  const outputs = new Set(output.map((tensor) => tensor.name))
  for (const [index, batch] of batchOutputs.entries()) {
    const path = `batch_output[${String(index)}]`
    const count = batch.source_input.length
    if (!kinds.has(batch.kind)) complaints.add(`${path}.kind`, `unknown batch output kind '' for ${name}`)
    else if (count !== 1) {
      const original = `batch output kind '${batch.kind}' expects 1 source input, got ${String(count)} for ${name}`
      complaints.add(`${path}.source_input`, original)
    }
    checkSources(complaints, { sources: batch.source_input, path, inputs })
    for (const [place, target] of batch.target_name.entries()) {
      const at = `${path}.target_name[${String(place)}]`
      if (!outputs.has(target)) {
        complaints.add(at, `unknown target output name '${target}' for ${name}`)
      } else if (seen.has(target))
        complaints.add(at, `target output name '${target}' can only be specified once for ${name}`)
      seen.add(target)
    }
  }
}
