import { toProtocolDatatype } from '@conch/protocol'
import type { ControlKind, Datatype, ModelConfig, SequenceControl, Tensor } from '@conch/protocol'

/** What a request is within its sequence; a row that only fills a place is none of these. */
export interface Signals {
  readonly start: boolean
  readonly end: boolean
  readonly ready: boolean
}

const SIGNALS: readonly (readonly [ControlKind, keyof Signals])[] = [
  ['CONTROL_SEQUENCE_START', 'start'],
  ['CONTROL_SEQUENCE_END', 'end'],
  ['CONTROL_SEQUENCE_READY', 'ready'],
]

/** The control inputs of a sequence model (sequence §2): one value a request, made once per model where they repeat. */
export class Controls {
  readonly #shape: readonly number[]
  readonly #signals: readonly { readonly of: keyof Signals; readonly values: readonly [Tensor, Tensor] }[]
  readonly #id: { readonly name: string; readonly datatype: Datatype } | undefined
  /** By start, end, ready as bits. */
  readonly #made = new Map<number, readonly Tensor[]>()

  constructor(config: ModelConfig) {
    this.#shape = config.max_batch_size > 0 ? [1, 1] : [1]
    this.#signals = SIGNALS.flatMap(([kind, of]) => {
      const found = findControl(config, kind)
      return found === undefined ? [] : [{ of, values: this.#makeSignal(found.name, found.control) }]
    })
    const id = findControl(config, 'CONTROL_SEQUENCE_CORRID')
    const datatype = id && toProtocolDatatype(id.control.data_type)
    this.#id = id && datatype && { name: id.name, datatype }
  }

  /** `id`: the sequence's own tensor, from `makeId`. */
  make(signals: Signals, id: Tensor | undefined): readonly Tensor[] {
    const bits = (signals.start ? 1 : 0) | (signals.end ? 2 : 0) | (signals.ready ? 4 : 0)
    let made = this.#made.get(bits)
    if (made === undefined) {
      made = this.#signals.map(({ of, values }) => values[signals[of] ? 1 : 0])
      this.#made.set(bits, made)
    }
    return id === undefined ? made : [...made, id]
  }

  /** Undefined when the model does not ask for it. 0 stands for no sequence. */
  makeId(id: bigint | string): Tensor | undefined {
    if (this.#id === undefined) return undefined
    const { name, datatype } = this.#id
    return { name, datatype, shape: this.#shape, data: encodeId(id, datatype) }
  }

  #makeSignal(name: string, control: SequenceControl): readonly [Tensor, Tensor] {
    const { int32_false_true: ints, fp32_false_true: floats, bool_false_true: flags } = control
    const make = (datatype: Datatype, array: Int32Array | Float32Array | Uint8Array): Tensor => {
      return { name, datatype, shape: this.#shape, data: new Uint8Array(array.buffer) }
    }
    const [no, yes] = [0, 1].map((place) => {
      if (ints.length > 0) return make('INT32', Int32Array.of(ints[place] ?? 0))
      if (floats.length > 0) return make('FP32', Float32Array.of(floats[place] ?? 0))
      return make('BOOL', Uint8Array.of(flags[place] === true ? 1 : 0))
    }) as [Tensor, Tensor]
    return [no, yes]
  }
}

function findControl(config: ModelConfig, kind: ControlKind) {
  for (const { name, control: controls } of config.sequence_batching?.control_input ?? []) {
    const control = controls.find((one) => one.kind === kind)
    if (control !== undefined) return { name, control }
  }
  return undefined
}

/**
 * Numbers keep their low bytes. A text on a model that wants a number becomes a number of its own (FNV-1a, 64 bits), so
 * that sequences stay apart; a number on a model that wants a text is written in decimal.
 */
function encodeId(id: bigint | string, datatype: Datatype): Uint8Array {
  if (datatype === 'BYTES') return encodeText(id === 0n ? '' : String(id))
  const number = typeof id === 'bigint' ? id : hash(id)
  const whole = new Uint8Array(BigUint64Array.of(BigInt.asUintN(64, number)).buffer)
  return datatype === 'INT32' || datatype === 'UINT32' ? whole.slice(0, 4) : whole
}

function encodeText(text: string): Uint8Array {
  const bytes = new TextEncoder().encode(text)
  const data = new Uint8Array(4 + bytes.length)
  new DataView(data.buffer).setUint32(0, bytes.length, true)
  data.set(bytes, 4)
  return data
}

function hash(text: string): bigint {
  let value = 0xcbf29ce484222325n
  for (const byte of new TextEncoder().encode(text)) {
    value = BigInt.asUintN(64, (value ^ BigInt(byte)) * 0x100000001b3n)
  }
  return value
}
