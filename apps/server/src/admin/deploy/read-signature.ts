import { readOnnxSignature, type OnnxSignature } from '@conch/engine'
import { ConchError } from '@conch/protocol'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Signature, SignatureTensor } from './deploy.schema.ts'

export interface ReadModel {
  /** As the engine reads it; null when there is no ONNX file or it cannot be read. */
  readonly onnx: OnnxSignature | null
  readonly signature: Signature | null
  readonly warnings: readonly string[]
}

/** The ONNX file of the newest version, `model.onnx` first. */
export function findOnnx(paths: readonly string[]): string | undefined {
  const found = paths.filter((path) => /^\d+\/[^/]+\.onnx$/.test(path))
  const rank = (path: string) => Number(path.split('/')[0]) * 2 + (path.endsWith('/model.onnx') ? 1 : 0)
  return found.toSorted((a, b) => rank(b) - rank(a))[0]
}

/** What the model's file declares; nothing is loaded or run. A file that cannot be read is a warning here, an error at load. */
export async function readSignature(model: string, paths: readonly string[]): Promise<ReadModel> {
  const path = findOnnx(paths)
  if (path === undefined) return { onnx: null, signature: null, warnings: [] }
  try {
    const onnx = await readOnnxSignature(join(model, path))
    const { size } = await stat(join(model, path))
    return { onnx, signature: describe(onnx, size), warnings: findMissing(onnx, path, paths) }
  } catch (error) {
    if (!(error instanceof ConchError)) throw error
    return { onnx: null, signature: null, warnings: [`${path}: ${error.message}`] }
  }
}

function findMissing({ externalFiles }: OnnxSignature, path: string, paths: readonly string[]): readonly string[] {
  const folder = path.split('/')[0] ?? ''
  return externalFiles
    .filter((file) => !paths.includes(`${folder}/${file}`))
    .map((file) => `${path} keeps weights in '${file}', which is not in the upload; add that file beside it`)
}

function describe(onnx: OnnxSignature, size: number): Signature {
  return {
    inputs: onnx.inputs.map(describeValue),
    outputs: onnx.outputs.map(describeValue),
    opsets: onnx.opsets,
    producer: `${onnx.producer} ${onnx.producerVersion}`.trim(),
    irVersion: onnx.irVersion,
    size,
    parameters: null,
  }
}

function describeValue({ name, kind, datatype, dims, symbols }: OnnxSignature['inputs'][number]): SignatureTensor {
  const shape = dims ?? []
  return {
    name,
    datatype: datatype ?? (kind === 'TENSOR' ? '' : kind),
    shape,
    dims: dims === undefined ? ['any shape'] : shape.map((dim, i) => (dim >= 0 ? String(dim) : symbols[i] || '?')),
  }
}
