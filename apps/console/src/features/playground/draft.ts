import { isDatatype, type Datatype } from '@conch/protocol'
import { ExactNumber, parseExact, printExact, type ExactJson } from './exact-json.ts'

/** One input as the form holds it. */
export interface DraftTensor {
  readonly name: string
  readonly datatype: Datatype
  readonly shape: readonly number[]
  /** Row-major. Numbers as written, BOOL as `true` and `false`, BYTES as their text. */
  readonly values: readonly string[]
  /** Its own parameters as JSON text, empty = absent. */
  readonly parameters: string
  /** Where the values came from, as in `cat.jpg`; empty when they were typed. */
  readonly source: string
}
/** A KServe v2 request body. The members that the form does not show keep their text. */
export interface Draft {
  readonly id: string
  readonly inputs: readonly DraftTensor[]
  /** JSON text, empty = absent. */
  readonly parameters: string
  readonly outputs: string
}

/** Reads a request body for the form. Throws an Error that says what the form cannot show. */
export function parseDraft(text: string): Draft {
  const body = parseExact(text)
  const inputs = memberOf(body, 'inputs')
  if (!Array.isArray(inputs)) throw new Error('The request needs a list of "inputs".')
  const id = memberOf(body, 'id')
  return {
    id: typeof id === 'string' ? id : '',
    inputs: inputs.map(readInput),
    parameters: printMember(body, 'parameters'),
    outputs: printMember(body, 'outputs'),
  }
}

function memberOf(value: ExactJson, name: string): ExactJson | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof ExactNumber)
    return undefined
  return (value as Readonly<Record<string, ExactJson>>)[name]
}

function printMember(value: ExactJson, name: string): string {
  const member = memberOf(value, name)
  return member === undefined ? '' : printExact(member)
}

function readInput(value: ExactJson, index: number): DraftTensor {
  const name = memberOf(value, 'name')
  const datatype = memberOf(value, 'datatype')
  const shape = memberOf(value, 'shape')
  if (typeof name !== 'string') throw new Error(`Input ${index + 1} has no "name".`)
  if (typeof datatype !== 'string' || !isDatatype(datatype))
    throw new Error(`Input "${name}" has no "datatype" that is known.`)
  if (!Array.isArray(shape)) throw new Error(`Input "${name}" has no "shape".`)
  const values: string[] = []
  flatten(memberOf(value, 'data') ?? [], values)
  return {
    name,
    datatype,
    shape: shape.map((dim) => Number(dim instanceof ExactNumber ? dim.text : dim)),
    values,
    parameters: printMember(value, 'parameters'),
    source: '',
  }
}

function flatten(value: ExactJson, into: string[]): void {
  if (Array.isArray(value)) for (const each of value) flatten(each as ExactJson, into)
  else if (value instanceof ExactNumber) into.push(value.text)
  else into.push(typeof value === 'string' ? value : JSON.stringify(value))
}

/** The body as JSON text: readable, one line for each list of values. */
export function printDraft({ id, inputs, parameters, outputs }: Draft): string {
  const members = [
    id === '' ? '' : `  "id": ${JSON.stringify(id)}`,
    parameters === '' ? '' : `  "parameters": ${parameters}`,
    `  "inputs": [\n${inputs.map(printInput).join(',\n')}\n  ]`,
    outputs === '' ? '' : `  "outputs": ${outputs}`,
  ]
  return `{\n${members.filter(Boolean).join(',\n')}\n}`
}

function printInput({ name, datatype, shape, values, parameters }: DraftTensor): string {
  const data = values.map((value) => printValue(value, datatype)).join(', ')
  return [
    '    {',
    `      "name": ${JSON.stringify(name)},`,
    `      "datatype": "${datatype}",`,
    `      "shape": [${shape.join(', ')}],`,
    ...(parameters === '' ? [] : [`      "parameters": ${parameters},`]),
    `      "data": [${data}]`,
    '    }',
  ].join('\n')
}

/** What is no number yet is written as a text, so that the body stays JSON and the server names the mistake. */
function printValue(value: string, datatype: Datatype): string {
  if (datatype === 'BYTES') return JSON.stringify(value)
  if (datatype === 'BOOL')
    return value === 'true' || value === '1'
      ? 'true'
      : value === 'false' || value === '0'
        ? 'false'
        : JSON.stringify(value)
  return isJsonNumber(value) ? value : JSON.stringify(value)
}

export function isJsonNumber(text: string): boolean {
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/.test(text)
}

/** Splits what a person typed or pasted: brackets, commas, blanks and line ends only separate. */
export function splitValues(text: string): string[] {
  return text
    .split(/[\s,;[\](){}]+/)
    .filter(Boolean)
    .map(tidyNumber)
}

/** Forms that people write and JSON does not know: `.5`, `1.`, `+3`, `007`. */
function tidyNumber(token: string): string {
  if (isJsonNumber(token)) return token
  const tidy = token
    .replace(/^\+/, '')
    .replace(/^(-?)0+(?=\d)/, '$1')
    .replace(/^(-?)\./, '$10.')
    .replace(/\.(?=$|[eE])/, '')
  return isJsonNumber(tidy) ? tidy : token
}
