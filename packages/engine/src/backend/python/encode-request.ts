import type { Parameters, ParameterValue } from '@conch/protocol'
import type { ActiveRequest, RequestTrace } from '../../request.ts'
import type { Cargo, RequestArena } from './request-arena.ts'

const [SEQUENCE_START, SEQUENCE_END] = [1, 2]
const NO_PARAMETERS = '"{}"'

/** Writes requests for one model: names that its config has are made JSON once. */
export class RequestEncoder {
  readonly #arena: RequestArena
  readonly #allOutputs: string
  readonly #names = new Map<string, string>()

  constructor(arena: RequestArena, names: { readonly inputs: readonly string[]; readonly outputs: readonly string[] }) {
    this.#arena = arena
    this.#allOutputs = JSON.stringify(names.outputs)
    for (const name of [...names.inputs, ...names.outputs]) this.#names.set(name, JSON.stringify(name))
  }

  /** One entry of a `run`, as JSON; its tensors go into the cargo. */
  encode(q: number, { request, trace }: Pick<ActiveRequest, 'request' | 'trace'>, cargo: Cargo): string {
    const { id, timeout, parameters, outputs } = request
    const flags = (request.sequenceStart ? SEQUENCE_START : 0) | (request.sequenceEnd ? SEQUENCE_END : 0)
    let inputs = ''
    for (const tensor of request.inputs) {
      inputs += `${inputs === '' ? '' : ','}${this.#arena.place(tensor, this.quote(tensor.name), cargo)}`
    }
    const outs = outputs.length === 0 ? this.#allOutputs : `[${outputs.map(({ name }) => this.quote(name)).join(',')}]`
    const params = encodeParameters(parameters)
    const head = `{"q":${q},"id":${id === '' ? '""' : JSON.stringify(id)},"seq":${encodeSequence(request.sequenceId)}`
    return `${head},"flags":${flags},"timeout":${timeout},"params":${params},"outs":${outs},"in":[${inputs}]${encodeTrace(trace)}}`
  }

  quote(name: string): string {
    return this.#names.get(name) ?? JSON.stringify(name)
  }
}

function encodeTrace(trace: RequestTrace | undefined): string {
  return trace === undefined ? '' : `,"trace":${JSON.stringify({ id: trace.id, context: trace.context })}`
}

function encodeSequence(id: bigint | string): string {
  return typeof id === 'string' ? `{"s":${JSON.stringify(id)}}` : `"${id}"`
}

/** Parameters as JSON in a JSON string: the model reads the inner text. */
export function encodeParameters(parameters: Parameters): string {
  let text = ''
  for (const key in parameters) {
    const value = parameters[key]
    if (value !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${encodeValue(value)}`
  }
  return text === '' ? NO_PARAMETERS : JSON.stringify(`{${text}}`)
}

/** A number that is no integer on the wire stays one: `1.0`, not `1`. */
function encodeValue(value: ParameterValue): string {
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) return 'null'
    return Number.isInteger(value) && Math.abs(value) < 1e21 ? `${value}.0` : String(value)
  }
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}
