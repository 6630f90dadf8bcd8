import type { Datatype } from '@conch/protocol'

/** What a value is; only tensors can be served. */
export type ValueKind = 'TENSOR' | 'SEQUENCE' | 'MAP' | 'OPAQUE' | 'SPARSETENSOR' | 'OPTIONAL' | 'UNKNOWN'

/** An input or output of a model, as the model itself declares it. */
export interface ModelValue {
  readonly name: string
  readonly kind: ValueKind
  /** ONNX element type; 0 = undefined. */
  readonly elementType: number
  /** How it travels; undefined for what cannot. */
  readonly datatype: Datatype | undefined
  /** -1 where the dimension is not fixed. Undefined: the rank itself is unknown. Empty: a scalar. */
  readonly dims: readonly number[] | undefined
  /** Name of each dimension that is not fixed; '' = fixed, or variable without a name. */
  readonly symbols: readonly string[]
}

export interface Signature {
  /** Inputs that a request must bring. */
  readonly inputs: readonly ModelValue[]
  readonly outputs: readonly ModelValue[]
  /** Initialisers that a request may override (IR version 4 and later: those that are listed as inputs too). */
  readonly overridable: readonly ModelValue[]
}
