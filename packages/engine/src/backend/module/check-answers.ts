import { BYTE_SIZE, ConchError, countElements, findBytesEnd, toProtocolDatatype } from '@conch/protocol'
import type { Datatype, ModelConfig, Tensor } from '@conch/protocol'
import type { BatchAnswer, BatchAnswers } from '../contract.ts'

/** The outputs that a model may give: name → datatype. */
export function listOutputs(config: ModelConfig): ReadonlyMap<string, Datatype | undefined> {
  return new Map(config.output.map(({ name, data_type }) => [name, toProtocolDatatype(data_type)]))
}

/**
 * What a custom backend answered, checked before anybody relies on it. A wrong answer fails its own request; what is no
 * list of the right length throws and fails the batch.
 */
export function checkAnswers(
  answers: unknown,
  requests: number,
  outputs: ReadonlyMap<string, Datatype | undefined>,
): BatchAnswers {
  if (answers === 'responded') return answers
  if (!Array.isArray(answers)) throw wrong(`execute must return a list of answers or 'responded', got ${show(answers)}`)
  if (answers.length !== requests) throw wrong(`execute returned ${answers.length} answers for ${requests} requests`)
  return answers.map((answer: unknown) => checkAnswer(answer, outputs))
}

function checkAnswer(answer: unknown, outputs: ReadonlyMap<string, Datatype | undefined>): BatchAnswer {
  if (answer === 'responded' || answer === 'again') return answer
  if (typeof answer !== 'object' || answer === null) {
    return { error: wrong(`an answer must be {outputs} or {error}, got ${show(answer)}`) }
  }
  if ('error' in answer) return { error: answer.error }
  const { outputs: given } = answer as { outputs?: unknown }
  if (!Array.isArray(given)) return { error: wrong(`the outputs of an answer must be a list, got ${show(given)}`) }
  for (const tensor of given) {
    const problem = checkTensor(tensor, outputs)
    if (problem !== undefined) return { error: wrong(problem) }
  }
  return answer as BatchAnswer
}

/** What is wrong with an output, or undefined. */
function checkTensor(tensor: unknown, outputs: ReadonlyMap<string, Datatype | undefined>): string | undefined {
  if (typeof tensor !== 'object' || tensor === null) return `an output must be a tensor, got ${show(tensor)}`
  const { name, datatype, shape, data } = tensor as Partial<Tensor>
  if (name === undefined || !outputs.has(name)) {
    return `output ${show(name)} is none of the model's: ${[...outputs.keys()].join(', ')}`
  }
  const declared = outputs.get(name)
  if (declared !== undefined && datatype !== declared) {
    return `output '${name}' has datatype ${show(datatype)}, but the model configuration says ${declared}`
  }
  if (datatype === undefined || !Array.isArray(shape) || !shape.every((dim) => Number.isSafeInteger(dim) && dim >= 0)) {
    return `output '${name}' needs a datatype and a shape of whole numbers, got ${show(shape)}`
  }
  if (!(data instanceof Uint8Array)) return `output '${name}' needs its data as a Uint8Array, got ${show(data)}`
  return checkSize({ name, datatype, shape, data })
}

function checkSize({ name, datatype, shape, data }: Tensor): string | undefined {
  const elements = countElements(shape)
  const about = `output '${name}' of shape [${shape.join(',')}]`
  if (datatype !== 'BYTES') {
    const wanted = elements * BYTE_SIZE[datatype]
    return data.byteLength === wanted ? undefined : `${about} needs ${wanted} bytes, got ${data.byteLength}`
  }
  let count = 0
  for (let at = 0; at < data.length; count++) {
    at = findBytesEnd(data, at)
    if (at < 0) return `${about} holds an element that is cut off`
  }
  return count === elements ? undefined : `${about} needs ${elements} elements, got ${count}`
}

function wrong(text: string): ConchError {
  return new ConchError('INTERNAL', text)
}

function show(value: unknown): string {
  if (typeof value === 'string') return `'${value.slice(0, 100)}'`
  if (Array.isArray(value)) return `[${value.slice(0, 20).map(String).join(',')}]`
  if (typeof value === 'object' && value !== null) return value.constructor?.name ?? 'an object'
  return typeof value === 'function' ? 'a function' : String(value as number | undefined)
}
