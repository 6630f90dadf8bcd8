import { createHash, hash } from 'node:crypto'
import type { InferRequest, Tensor } from '@conch/protocol'

/** Requests up to this size, bytes, are their own key where nobody else reads it: that costs a third of a hash. */
const OWN_KEY = 256
/** Requests up to this size are hashed in one call, which costs a third of three. */
const SCRATCH = Buffer.allocUnsafeSlow(16_384)

/**
 * What makes two requests to the same version equal: names, datatypes, shapes and bytes of the inputs whatever their
 * order, and `wanted`. A hash of 256 bits where `printable` or large: two that differ never meet. The original leaves datatypes, shapes and outputs out
 * (cache §2), so that requests get answers of others.
 */
export function makeKey(request: InferRequest, wanted: string, printable: boolean): string {
  const inputs = orderInputs(request.inputs)
  let head = `${wanted.length}:${wanted}`
  let bytes = 0
  for (const { name, datatype, shape, data } of inputs) {
    head += `${name.length}:${name} ${datatype} ${shape.join(',')} ${data.byteLength} `
    bytes += data.byteLength
  }
  // A code unit becomes at most three bytes.
  if (head.length * 3 + bytes > SCRATCH.length) return hashParts(head, inputs)
  let end = SCRATCH.write(head)
  for (const { data } of inputs) {
    SCRATCH.set(data, end)
    end += data.byteLength
  }
  if (!printable && end <= OWN_KEY) return SCRATCH.toString('latin1', 0, end)
  return hash('sha256', SCRATCH.subarray(0, end), 'base64url')
}

function hashParts(head: string, inputs: readonly Tensor[]): string {
  const whole = createHash('sha256').update(head)
  for (const { data } of inputs) whole.update(data)
  return whole.digest('base64url')
}

function orderInputs(inputs: readonly Tensor[]): readonly Tensor[] {
  for (let i = 1; i < inputs.length; i++) {
    const [before, after] = [inputs[i - 1]?.name ?? '', inputs[i]?.name ?? '']
    if (before > after) return inputs.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  }
  return inputs
}

/** The outputs that a request asks for, in one spelling: all of them, named or not, are ''. */
export function nameOutputs(request: InferRequest, all: ReadonlySet<string>): string {
  const { outputs } = request
  if (outputs.length === 0) return ''
  const names = new Set(outputs.map(({ name }) => name))
  if (names.size >= all.size) return ''
  return JSON.stringify([...names].toSorted())
}
