import { readFile, stat } from 'node:fs/promises'
import { ConchError, countElements, type ModelConfig } from '@conch/protocol'
import type { TensorMetadata } from '@conch/engine'
import type { Services } from '../context.ts'
import { listSamples, resolveModelFile } from '../model-files.ts'

interface Input {
  readonly model: string
  readonly version?: string | undefined
}

/** Elements of one made-up tensor; more would be no example but a load. */
const MOST = 1_000_000
const MAX_SAMPLE = 8 * 1_048_576

/** A request that the model accepts: a sample that lies with it, else one made from its inputs. */
export async function makeExample({ engine, repositories }: Services, { model, version = '' }: Input): Promise<string> {
  const folder = await repositories.find(model)
  for (const { path } of folder === undefined ? [] : await listSamples(folder)) {
    if (folder === undefined || !path.endsWith('.json')) continue
    const text = await readSample(await resolveModelFile(folder, path))
    if (text !== undefined) return text
  }
  const { inputs } = engine.metadata(model, version)
  return writeExample(inputs, engine.config(model, version))
}

/** Only requests count as samples; other JSON may lie beside them. */
async function readSample(path: string): Promise<string | undefined> {
  if ((await stat(path)).size > MAX_SAMPLE) return undefined
  const text = await readFile(path, 'utf8')
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && 'inputs' in value && Array.isArray(value.inputs)
      ? text
      : undefined
  } catch {
    return undefined
  }
}

export function writeExample(inputs: readonly TensorMetadata[], config: ModelConfig): string {
  const optional = new Set(config.input.filter((input) => input.optional).map(({ name }) => name))
  const needed = inputs.filter(({ name }) => !optional.has(name))
  const lines = (needed.length === 0 ? inputs : needed).map(writeInput)
  const sequence = config.sequence_batching !== undefined
  const parameters = sequence
    ? '  "parameters": { "sequence_id": 1, "sequence_start": true, "sequence_end": true },\n'
    : ''
  return `{\n${parameters}  "inputs": [\n${lines.join(',\n')}\n  ]\n}\n`
}

function writeInput({ name, datatype, shape }: TensorMetadata): string {
  const fixed = shape.map((dim) => (dim < 0 ? 1 : dim))
  const count = countElements(fixed)
  if (count > MOST)
    throw new ConchError('UNSUPPORTED', `input '${name}' has ${count} elements; load its data from a file instead`)
  const data = Array.from({ length: count }, (_, i) => writeElement(datatype, i)).join(', ')
  return `    {\n      "name": ${JSON.stringify(name)},\n      "shape": [${fixed.join(', ')}],\n      "datatype": "${datatype}",\n      "data": [${data}]\n    }`
}

/** Small numbers that differ, the same every time. */
function writeElement(datatype: string, i: number): string {
  if (datatype === 'BYTES') return JSON.stringify(`example ${i + 1}`)
  if (datatype === 'BOOL') return String(i % 2 === 0)
  if (/^(FP|BF)/.test(datatype)) return String(((i % 10) + 1) / 10)
  return String(i % 10)
}
