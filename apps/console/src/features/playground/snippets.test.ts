import { execFile, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { parseInferRequest, type InferRequest } from '@conch/protocol'
import { expect, it } from 'vitest'
import type { SnippetSource } from './snippet-source.ts'
import { SNIPPET_KINDS, writeSnippet } from './snippets.ts'

const body = `{
  "parameters": { "sequence_id": 18446744073709551615, "sequence_start": true },
  "inputs": [
    { "name": "x", "datatype": "INT64", "shape": [1, 2], "data": [9007199254740993, -1] },
    { "name": "t", "datatype": "BYTES", "shape": [1], "data": ["it's \\"quoted\\" \\\\ \`and\` \${more}"] },
    { "name": "b", "datatype": "BOOL", "shape": [1], "data": [true] }
  ]
}`
const source: SnippetSource = { serverUrl: 'http://127.0.0.1:8000', model: 'my model', version: '2', body }

it('asks the address of the model and its version', () => {
  for (const kind of SNIPPET_KINDS.filter((each) => each === 'curl' || each === 'python')) {
    expect(writeSnippet(kind, source).code).toContain('http://127.0.0.1:8000/v2/models/my%20model/versions/2/infer')
  }
  expect(writeSnippet('curl', { ...source, version: '' }).code).toContain('/v2/models/my%20model/infer')
})

it('gives the shell the body unchanged', () => {
  const { code } = writeSnippet('curl', source)
  const shown = execFileSync('bash', ['-c', code.replace(/^curl [\s\S]*? <</, 'cat <<')], { encoding: 'utf8' })
  expect(shown).toBe(`${body}\n`)
})

it('writes a TypeScript program that sends what the body says', async () => {
  const sent = Promise.withResolvers<{ url: string; body: Buffer; header: string }>()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const header = String(request.headers['inference-header-content-length'])
      sent.resolve({ url: request.url ?? '', body: Buffer.concat(chunks), header })
      response.end(
        '{"model_name":"m","outputs":[{"name":"o","datatype":"INT64","shape":[1],"data":[9007199254740993]}]}',
      )
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const outputs = '"outputs": [{ "name": "o", "parameters": { "classification": 3 } }],\n  "inputs"'
  const asked = { ...source, serverUrl: `http://127.0.0.1:${port}`, body: body.replace('"inputs"', outputs) }
  const { code } = writeSnippet('typescript', asked)
  const options = ['--conditions=@conch/source', '--input-type=module-typescript', '-e', code]
  const { stdout } = await promisify(execFile)(process.execPath, options)
  server.close()
  expect(stdout).toBe('o [ 1 ] BigInt64Array(1) [ 9007199254740993n ]\n')
  const { url, body: bytes, header } = await sent.promise
  expect(url).toBe('/v2/models/my%20model/versions/2/infer')
  const target = { model: '', version: '', maxInputSize: 1e6 }
  const request = parseInferRequest(bytes, Number(header), target)
  const wanted = parseInferRequest(Buffer.from(asked.body), undefined, target)
  const plain = ({ inputs, outputs: list, ...rest }: InferRequest) => ({
    ...rest,
    inputs: inputs.map((input) => ({ ...input, data: [...input.data] })),
    outputs: list.map(({ name, classification }) => [name, classification]),
  })
  expect(plain(request)).toEqual(plain(wanted))
})

it('writes Python that parses, with exact integers', () => {
  const { code } = writeSnippet('tritonclient', source)
  expect(code).toContain('np.array([9007199254740993, -1], dtype=np.int64).reshape([1, 2])')
  expect(code).toContain('model_version="2", sequence_id=18446744073709551615, sequence_start=True')
  for (const kind of ['python', 'tritonclient'] as const) {
    const script = `import ast,sys; ast.parse(sys.stdin.read())`
    expect(() => execFileSync('python3', ['-c', script], { input: writeSnippet(kind, source).code })).not.toThrow()
  }
})

it('gives Python the body unchanged', () => {
  const { code } = writeSnippet('python', source)
  const literal = code.slice(code.indexOf('body = '), code.indexOf('request = '))
  const printed = execFileSync('python3', ['-c', `${literal}\nimport sys; sys.stdout.write(body)`], {
    encoding: 'utf8',
  })
  expect(printed).toBe(body)
})

it('reads a long body from a file', () => {
  const long = {
    ...source,
    body: `{"inputs":[{"name":"x","datatype":"FP32","shape":[30000],"data":[${'1,'.repeat(29_999)}1]}]}`,
  }
  for (const kind of SNIPPET_KINDS) {
    const snippet = writeSnippet(kind, long)
    expect(snippet.file).toBe('request.json')
    expect(snippet.code).toContain('request.json')
    expect(snippet.code.length).toBeLessThan(2000)
  }
})
