import { toDatatype } from './element-type.ts'
import { checkStatus, receive, receiveSize } from './env.ts'
import type { Env } from './env.ts'
import { readText } from './library.ts'
import type { Api, Pointer } from './library.ts'
import type { ModelValue, Signature, ValueKind } from './signature.ts'

const KINDS: readonly ValueKind[] = ['UNKNOWN', 'TENSOR', 'SEQUENCE', 'MAP', 'OPAQUE', 'SPARSETENSOR', 'OPTIONAL']

/** Inputs and outputs as the session sees them: declared in the file, refined by shape inference. */
export function readSignature(env: Env, session: Pointer): Signature {
  const { api } = env
  return {
    inputs: readValues(env, session, {
      count: api.SessionGetInputCount,
      name: api.SessionGetInputName,
      type: api.SessionGetInputTypeInfo,
    }),
    outputs: readValues(env, session, {
      count: api.SessionGetOutputCount,
      name: api.SessionGetOutputName,
      type: api.SessionGetOutputTypeInfo,
    }),
    overridable: readValues(env, session, {
      count: api.SessionGetOverridableInitializerCount,
      name: api.SessionGetOverridableInitializerName,
      type: api.SessionGetOverridableInitializerTypeInfo,
    }),
  }
}

interface Calls {
  readonly count: Api['SessionGetInputCount']
  readonly name: Api['SessionGetInputName']
  readonly type: Api['SessionGetInputTypeInfo']
}

function readValues(env: Env, session: Pointer, calls: Calls): readonly ModelValue[] {
  const count = receiveSize((out) => calls.count(session, out))
  return Array.from({ length: count }, (_, index) => {
    const text = receive((out) => calls.name(session, index, env.allocator, out))
    const name = readText(text)
    checkStatus(env.api.AllocatorFree(env.allocator, text))
    const type = receive((out) => calls.type(session, index, out))
    try {
      return readType(env, name, type)
    } finally {
      env.api.ReleaseTypeInfo(type)
    }
  })
}

function readType({ api }: Env, name: string, type: Pointer): ModelValue {
  const kind = KINDS[receiveSize((out) => api.GetOnnxTypeFromTypeInfo(type, out))] ?? 'UNKNOWN'
  if (kind !== 'TENSOR') return { name, kind, elementType: 0, datatype: undefined, dims: undefined, symbols: [] }
  // Belongs to the type: not to be released.
  const tensor = receive((out) => api.CastTypeInfoToTensorInfo(type, out))
  const elementType = receiveSize((out) => api.GetTensorElementType(tensor, out))
  const typed = { name, kind, elementType, datatype: toDatatype(elementType) }
  if (!api.TensorTypeAndShape_HasShape(tensor)) return { ...typed, dims: undefined, symbols: [] }
  const rank = receiveSize((out) => api.GetDimensionsCount(tensor, out))
  const dims = new BigInt64Array(new ArrayBuffer(8 * (rank + 1)))
  const names = new BigUint64Array(new ArrayBuffer(8 * (rank + 1)))
  checkStatus(api.GetDimensions(tensor, dims, rank))
  checkStatus(api.GetSymbolicDimensions(tensor, names, rank))
  return {
    ...typed,
    dims: [...dims.subarray(0, rank)].map(Number),
    symbols: [...names.subarray(0, rank)].map((text) => (text === 0n ? '' : readText(text))),
  }
}
