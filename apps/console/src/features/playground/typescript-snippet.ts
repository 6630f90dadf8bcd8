import type { Datatype } from '@conch/protocol'
import { parseDraft, type Draft, type DraftTensor } from './draft.ts'
import { inferUrl, type SnippetSource } from './snippet-source.ts'

/** A program for @conch/client, which keeps 64-bit integers exact and sends tensors as bytes. A body in a file is sent as it is. */
export function writeTypeScript(source: SnippetSource, file: string | null): string {
  const draft = file === null ? readDraft(source.body) : null
  if (draft === null) return writeFetch(source, file)
  const { sequence, others } = splitParameters(draft.parameters)
  return [
    "import { HttpClient, readValues } from '@conch/client'",
    '',
    `const client = new HttpClient(${quote(source.serverUrl)})`,
    `const result = await client.infer(${quote(source.model)}, {`,
    ...(source.version === '' ? [] : [`  version: ${quote(source.version)},`]),
    ...(draft.id === '' ? [] : [`  id: ${quote(draft.id)},`]),
    '  inputs: [',
    ...draft.inputs.map((input) => `    ${writeInput(input)},`),
    '  ],',
    ...writeOutputs(draft.outputs),
    ...(sequence.length === 0 ? [] : [`  sequence: { ${sequence.join(', ')} },`]),
    ...others.map((line) => `  ${line},`),
    '})',
    'for (const output of result.outputs)',
    '  console.log(output.name, output.shape, readValues(output, output.datatype).slice(0, 10))',
  ].join('\n')
}

function readDraft(body: string): Draft | null {
  try {
    return parseDraft(body)
  } catch {
    return null
  }
}

function writeInput({ name, datatype, shape, values }: DraftTensor): string {
  const list = values.map((value) => writeElement(value, datatype)).join(', ')
  return `{ name: ${quote(name)}, datatype: '${datatype}', shape: [${shape.join(', ')}], values: [${list}] }`
}

function writeElement(value: string, datatype: Datatype): string {
  if (datatype === 'BYTES') return quote(value)
  if (datatype === 'BOOL') return value === 'true' || value === '1' ? 'true' : 'false'
  return datatype === 'INT64' || datatype === 'UINT64' ? `${value}n` : value
}

/** Texts as TypeScript has them; JSON's strings are that. */
function quote(text: string): string {
  return /^[\w .:/-]*$/.test(text) ? `'${text}'` : JSON.stringify(text)
}

interface Output {
  readonly name: string
  readonly parameters?: { readonly classification?: number }
}

function writeOutputs(text: string): string[] {
  const list = text === '' ? [] : (JSON.parse(text) as readonly Output[])
  if (list.length === 0) return []
  const outputs = list.map(({ name, parameters }) => {
    const classes = parameters?.classification
    return classes === undefined ? quote(name) : `{ name: ${quote(name)}, classification: ${classes} }`
  })
  return [`  outputs: [${outputs.join(', ')}],`]
}

/** Parameters that the client has places for, by their name there. */
const SEQUENCE: Readonly<Record<string, string>> = { sequence_id: 'id', sequence_start: 'start', sequence_end: 'end' }
const NAMED: Readonly<Record<string, string>> = { priority: 'priority', timeout: 'queueTimeoutMicroseconds' }

function splitParameters(text: string): { sequence: string[]; others: string[] } {
  const sequence: string[] = []
  const others: string[] = []
  const custom: string[] = []
  for (const [, name = '', value = ''] of text.matchAll(/"(\w+)":\s*("(?:[^"\\]|\\.)*"|[-\w.+]+)/g)) {
    const literal = /^-?\d+$/.test(value) ? `${value}n` : value
    if (SEQUENCE[name] !== undefined) sequence.push(`${SEQUENCE[name]}: ${literal}`)
    else if (NAMED[name] !== undefined) others.push(`${NAMED[name]}: ${value}`)
    else if (name !== 'binary_data_output') custom.push(`${name}: ${literal}`)
  }
  if (custom.length > 0) others.push(`parameters: { ${custom.join(', ')} }`)
  return { sequence, others }
}

function writeFetch(source: SnippetSource, file: string | null): string {
  const inline = /[`]|\$\{/.test(source.body) ? JSON.stringify(source.body) : `String.raw\`${source.body}\``
  return [
    ...(file === null ? [] : ["import { readFile } from 'node:fs/promises'", '']),
    '// Text instead of an object: 64-bit integers stay exact.',
    `const body = ${file === null ? inline : `await readFile('${file}', 'utf8')`}`,
    `const response = await fetch('${inferUrl(source).replaceAll("'", '%27')}', {`,
    "  method: 'POST',",
    "  headers: { 'Content-Type': 'application/json' },",
    '  body,',
    '})',
    'if (!response.ok) throw new Error(await response.text())',
    'console.log(await response.text())',
    'export {}',
  ].join('\n')
}
