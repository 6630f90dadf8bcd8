import type { Signature } from './deploy.schema.ts'

/** The ONNX file of the newest version, `model.onnx` first. */
export function findOnnx(paths: readonly string[]): string | undefined {
  const found = paths.filter((path) => /^\d+\/[^/]+\.onnx$/.test(path))
  const rank = (path: string) => Number(path.split('/')[0]) * 2 + (path.endsWith('/model.onnx') ? 1 : 0)
  return found.sort((a, b) => rank(b) - rank(a))[0]
}

/** What the file says of itself; a file that cannot be read is no model, which is a warning here and an error at load. */
export function readSignature(
  _path: string,
  _shown: string,
): Promise<{ signature: Signature | null; warning: string | undefined }> {
  return Promise.resolve({ signature: null, warning: undefined })
}
