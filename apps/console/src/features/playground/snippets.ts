import type { Datatype } from '@conch/protocol'
import { parseDraft, type DraftTensor } from './draft.ts'
import { inferUrl, type SnippetSource } from './snippet-source.ts'
import { writeTypeScript } from './typescript-snippet.ts'

export const SNIPPET_KINDS = ['curl', 'python', 'tritonclient', 'typescript'] as const
export type SnippetKind = (typeof SNIPPET_KINDS)[number]

export interface Snippet {
  readonly code: string
  /** The body is too long for a terminal: the code reads it from this file. */
  readonly file: string | null
}

/** A longer body is read from a file: terminals and editors choke on it. */
const LONGEST_INLINE = 40_000
const FILE = 'request.json'

export function writeSnippet(kind: SnippetKind, source: SnippetSource): Snippet {
  const file = source.body.length > LONGEST_INLINE ? FILE : null
  const write = { curl: writeCurl, python: writePython, tritonclient: writeTritonClient, typescript: writeTypeScript }[
    kind
  ]
  return { code: write(source, file), file }
}

function writeCurl(source: SnippetSource, file: string | null): string {
  const head = `curl -sS '${inferUrl(source).replaceAll("'", '%27')}' \\\n  -H 'Content-Type: application/json' \\\n`
  return file === null ? `${head}  --data-binary @- <<'JSON'\n${source.body}\nJSON` : `${head}  --data-binary @${file}`
}

function writePython(source: SnippetSource, file: string | null): string {
  const body = file === null ? quotePython(source.body) : `open(${JSON.stringify(file)}, encoding="utf-8").read()`
  return [
    'import json',
    'import urllib.request',
    '',
    `body = ${body}`,
    'request = urllib.request.Request(',
    `    ${JSON.stringify(inferUrl(source))},`,
    '    data=body.encode("utf-8"),',
    '    headers={"Content-Type": "application/json"},',
    ')',
    'with urllib.request.urlopen(request) as response:',
    '    answer = json.load(response)',
    'for output in answer["outputs"]:',
    '    print(output["name"], output["shape"], output["data"][:10])',
  ].join('\n')
}

/** A raw literal where the text allows it, because it stays readable. */
function quotePython(text: string): string {
  return text.includes("'''") || text.endsWith('\\') ? JSON.stringify(text) : `r'''${text}'''`
}

const NUMPY: Readonly<Record<Datatype, string>> = {
  BOOL: 'bool_',
  UINT8: 'uint8',
  UINT16: 'uint16',
  UINT32: 'uint32',
  UINT64: 'uint64',
  INT8: 'int8',
  INT16: 'int16',
  INT32: 'int32',
  INT64: 'int64',
  FP16: 'float16',
  FP32: 'float32',
  FP64: 'float64',
  BF16: 'float32',
  BYTES: 'object_',
}

/** The original's own client, which sends tensors as bytes. */
function writeTritonClient({ serverUrl, model, version, body }: SnippetSource, file: string | null): string {
  const draft = readDraft(body)
  if (draft === null) return '# The request is no JSON that a client could send.'
  const arrays = draft.inputs.map((input, index) => writeArray(input, { index, file }))
  const names = draft.inputs.map((_, index) => `x${index}`).join(', ')
  const versionPart = version === '' ? '' : `, model_version="${version}"`
  return [
    '# pip install tritonclient[http]',
    ...(file === null ? [] : ['import json']),
    'import numpy as np',
    'import tritonclient.http as http',
    '',
    ...(file === null ? [] : [`sent = json.load(open(${JSON.stringify(file)}, encoding="utf-8"))["inputs"]`]),
    ...arrays,
    `client = http.InferenceServerClient(${JSON.stringify(new URL(serverUrl).host)})`,
    `result = client.infer(${JSON.stringify(model)}, [${names}]${versionPart}${writeParameters(draft.parameters)})`,
    'for output in result.get_response()["outputs"]:',
    '    print(output["name"], output["shape"], result.as_numpy(output["name"]).ravel()[:10])',
  ].join('\n')
}

function readDraft(body: string) {
  try {
    return parseDraft(body)
  } catch {
    return null
  }
}

function writeArray(
  { name, datatype, shape, values }: DraftTensor,
  { index, file }: { index: number; file: string | null },
): string {
  const data =
    file === null ? `[${values.map((value) => writeElement(value, datatype)).join(', ')}]` : `sent[${index}]["data"]`
  const dims = `[${shape.join(', ')}]`
  return [
    `x${index} = http.InferInput(${JSON.stringify(name)}, ${dims}, "${datatype}")`,
    `x${index}.set_data_from_numpy(np.array(${data}, dtype=np.${NUMPY[datatype]}).reshape(${dims}))`,
  ].join('\n')
}

function writeElement(value: string, datatype: Datatype): string {
  if (datatype === 'BYTES') return `${JSON.stringify(value)}.encode()`
  if (datatype === 'BOOL') return value === 'true' || value === '1' ? 'True' : 'False'
  return value
}

/** Parameters that the client's method has names for. */
const NAMED: Readonly<Record<string, string>> = {
  sequence_id: 'sequence_id',
  sequence_start: 'sequence_start',
  sequence_end: 'sequence_end',
  priority: 'priority',
  timeout: 'timeout',
}

function writeParameters(parameters: string): string {
  const pairs = [...parameters.matchAll(/"(\w+)":\s*("(?:[^"\\]|\\.)*"|[-\w.+]+)/g)]
  return pairs
    .map(
      ([, name = '', value = '']) =>
        [NAMED[name], value === 'true' ? 'True' : value === 'false' ? 'False' : value] as const,
    )
    .filter(([name]) => name !== undefined)
    .map(([name, value]) => `, ${name}=${value}`)
    .join('')
}
