import { ConchError, type Datatype } from '@conch/protocol'
import type { Signature, SignatureTensor } from './deploy.schema.ts'
import { ProtoFile, type ProtoField } from './proto-file.ts'

/** The ONNX file of the newest version, `model.onnx` first. */
export function findOnnx(paths: readonly string[]): string | undefined {
  const found = paths.filter((path) => /^\d+\/[^/]+\.onnx$/.test(path))
  const rank = (path: string) => Number(path.split('/')[0]) * 2 + (path.endsWith('/model.onnx') ? 1 : 0)
  return found.sort((a, b) => rank(b) - rank(a))[0]
}

/** A file that cannot be read is no model: a warning here, an error at load. */
export async function readSignature(
  path: string,
  shown: string,
): Promise<{ signature: Signature | null; warning: string | undefined }> {
  try {
    return { signature: await readOnnx(path), warning: undefined }
  } catch (error) {
    if (!(error instanceof ConchError)) throw error
    return { signature: null, warning: `${shown}: ${error.message}` }
  }
}

interface Draft {
  opsets: { domain: string; version: number }[]
  producer: string
  irVersion: number
  inputs: SignatureTensor[]
  outputs: SignatureTensor[]
  /** Names of inputs that have a value of their own. */
  initialised: Set<string>
  parameters: number
  hasGraph: boolean
}

/** Reads what an ONNX file declares, by the numbers of onnx.proto; no runtime sees the file. */
export async function readOnnx(path: string): Promise<Signature> {
  const file = await ProtoFile.open(path)
  try {
    const draft: Draft = {
      opsets: [],
      producer: '',
      irVersion: 0,
      inputs: [],
      outputs: [],
      initialised: new Set(),
      parameters: 0,
      hasGraph: false,
    }
    for await (const field of file.fields({ start: 0, end: file.size })) await readModelField(file, field, draft)
    if (!draft.hasGraph) throw new ConchError('INVALID_ARG', "the model's file cannot be read: it holds no graph")
    const { opsets, producer, irVersion, initialised, outputs, parameters } = draft
    const inputs = draft.inputs.filter(({ name }) => !initialised.has(name))
    return { inputs, outputs, opsets, producer, irVersion, size: file.size, parameters }
  } finally {
    await file.close()
  }
}

async function readModelField(file: ProtoFile, field: ProtoField, draft: Draft): Promise<void> {
  if (field.number === 1) draft.irVersion = Number(field.value)
  else if (field.number === 2) draft.producer = await file.text(field)
  else if (field.number === 3) draft.producer = `${draft.producer} ${await file.text(field)}`.trim()
  else if (field.number === 8) draft.opsets.push(await readOpset(file, field))
  else if (field.number === 7) {
    draft.hasGraph = true
    for await (const part of file.fields(field)) await readGraphField(file, part, draft)
  }
}

async function readOpset(file: ProtoFile, message: ProtoField): Promise<{ domain: string; version: number }> {
  let [domain, version] = ['', 0]
  for await (const field of file.fields(message)) {
    if (field.number === 1) domain = await file.text(field)
    if (field.number === 2) version = Number(field.value)
  }
  return { domain, version }
}

async function readGraphField(file: ProtoFile, field: ProtoField, draft: Draft): Promise<void> {
  if (field.number === 5) await readInitializer(file, field, draft)
  else if (field.number === 11) draft.inputs.push(await readValue(file, field))
  else if (field.number === 12) draft.outputs.push(await readValue(file, field))
}

async function readInitializer(file: ProtoFile, message: ProtoField, draft: Draft): Promise<void> {
  let count = 1
  for await (const field of file.fields(message)) {
    if (field.number === 1) for (const dim of await file.numbers(field)) count *= Number(dim)
    if (field.number === 8) draft.initialised.add(await file.text(field))
  }
  draft.parameters += count
}

async function readValue(file: ProtoFile, message: ProtoField): Promise<SignatureTensor> {
  let tensor = { name: '', datatype: '', shape: [] as number[], dims: [] as string[] }
  for await (const field of file.fields(message)) {
    if (field.number === 1) tensor = { ...tensor, name: await file.text(field) }
    if (field.number !== 2) continue
    for await (const kind of file.fields(field)) {
      // Sequences, maps and the like are no tensors; they keep an empty datatype.
      if (kind.number === 1) tensor = { ...tensor, ...(await readTensorType(file, kind)) }
    }
  }
  return tensor
}

async function readTensorType(file: ProtoFile, message: ProtoField) {
  let datatype = ''
  const dims: string[] = []
  for await (const field of file.fields(message)) {
    if (field.number === 1) datatype = DATATYPES[Number(field.value)] ?? ''
    if (field.number !== 2) continue
    for await (const dim of file.fields(field)) dims.push(await readDim(file, dim))
  }
  return { datatype, dims, shape: dims.map((dim) => (/^\d+$/.test(dim) ? Number(dim) : -1)) }
}

async function readDim(file: ProtoFile, message: ProtoField): Promise<string> {
  for await (const field of file.fields(message)) {
    if (field.number === 1) return BigInt.asIntN(64, field.value) < 0n ? '?' : String(field.value)
    // A name of digits would pass for a size.
    if (field.number === 2) return (await file.text(field)).replace(/^(\d+)$/, "'$1'") || '?'
  }
  return '?'
}

/** By the element types of onnx.proto. */
const DATATYPES: readonly (Datatype | '')[] = [
  '',
  'FP32',
  'UINT8',
  'INT8',
  'UINT16',
  'INT16',
  'INT32',
  'INT64',
  'BYTES',
  'BOOL',
  'FP16',
  'FP64',
  'UINT32',
  'UINT64',
  '',
  '',
  'BF16',
]
